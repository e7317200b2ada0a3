// Owns the way to SQLite: node:sqlite where Node has it, else libsql; only the one in use is ever loaded.
import { createRequire } from 'node:module'
import type Libsql from 'libsql'
import { StoreFault } from '../fault.ts'
import { sqliteFault } from './sqlite-fault.ts'

export type SqlValue = string | number | null

/** Its rows have the shape that the SQL gives them; every method throws StoreFault. */
export interface Statement<Row> {
  run(...values: SqlValue[]): void
  get(...values: SqlValue[]): Row | undefined
  all(...values: SqlValue[]): Row[]
}

export interface Database {
  readonly driver: 'node:sqlite' | 'libsql'
  exec(sql: string): void
  prepare<Row = never>(sql: string): Statement<Row>
  close(): void
}

/** The part of node:sqlite that is used; @types/node 20 doesn't know it. */
interface NodeSqlite {
  DatabaseSync: new (
    path: string,
  ) => {
    exec(sql: string): void
    prepare(sql: string): { run(...v: SqlValue[]): unknown; get(...v: SqlValue[]): unknown; all(...v: SqlValue[]): unknown[] }
    close(): void
  }
}

/** *Contract:* throws StoreFault `storage_unavailable`. */
export function openDatabase(path: string): Database {
  return openNodeSqlite(path) ?? openLibsql(path)
}

function openNodeSqlite(path: string): Database | null {
  const loaded = quietly(() => process.getBuiltinModule('node:sqlite') as NodeSqlite | undefined)
  if (loaded === undefined) return null
  const attempt = attempting(path)
  const database = attempt(() => new loaded.DatabaseSync(path))
  return {
    driver: 'node:sqlite',
    exec: (sql) => attempt(() => database.exec(sql)),
    prepare: <Row>(sql: string): Statement<Row> => {
      const statement = attempt(() => database.prepare(sql))
      return {
        run: (...values) => void attempt(() => statement.run(...values)),
        get: (...values) => attempt(() => statement.get(...values) as Row | undefined),
        all: (...values) => attempt(() => statement.all(...values) as Row[]),
      }
    },
    close: () => database.close(),
  }
}

function openLibsql(path: string): Database {
  const attempt = attempting(path)
  const Loaded = loadLibsql()
  const database = attempt(() => new Loaded(path))
  return {
    driver: 'libsql',
    exec: (sql) => void attempt(() => database.exec(sql)),
    prepare: <Row>(sql: string): Statement<Row> => {
      const statement = attempt(() => database.prepare<[SqlValue[]]>(sql))
      return {
        // One array: a lone null would be taken for named values.
        run: (...values) => void attempt(() => statement.run(values)),
        get: (...values) => attempt(() => statement.get(values) as Row | undefined),
        all: (...values) => attempt(() => statement.all(values) as Row[]),
      }
    },
    close: () => void database.close(),
  }
}

function loadLibsql(): typeof Libsql {
  const report: typeof process.report & { excludeNetwork?: boolean } = process.report
  const { excludeNetwork = false } = report
  try {
    // It looks in Node's report for the C library; the names of all network peers there take long, and it doesn't want them.
    report.excludeNetwork = true
    return createRequire(import.meta.url)('libsql')
  } catch (error) {
    const why = error instanceof Error ? error.message.split('\n')[0] : String(error)
    throw new StoreFault(
      'storage_unavailable',
      `no SQLite here: Node ${process.versions.node} brings none (22.13 and newer do), and the npm package libsql does not load (${why}). ` +
        'Use Node 22.13 or newer, or install libsql beside quiesce.',
    )
  } finally {
    report.excludeNetwork = excludeNetwork
  }
}

function attempting(path: string) {
  return <T>(work: () => T): T => {
    try {
      return work()
    } catch (error) {
      throw sqliteFault(path, error)
    }
  }
}

/** Node says on stderr that its SQLite is experimental, to everybody who starts an agent: that one warning is left out. */
function quietly<T>(load: () => T): T {
  const { emitWarning } = process
  process.emitWarning = () => {}
  try {
    return load()
  } finally {
    process.emitWarning = emitWarning
  }
}
