import { existsSync, lstatSync, mkdirSync, readFileSync, readlinkSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { created, receipt, scratch } from '../store.fixture.ts'
import { openDatabase } from './driver.ts'
import { openSqliteStore } from './sqlite-store.ts'

const directory = scratch()
afterAll(() => directory.remove())
let path: string
let count = 0
const at = (name: string) => directory.path(`${count}/${name}`)
beforeEach(() => {
  count += 1
  mkdirSync(directory.path(`${count}`))
  path = at('store.db')
})

const open = () => openSqliteStore({ path, home: 'inline' })
const refused = (why: string) => ({
  code: 'storage_unavailable',
  retryable: true,
  message: `the store ${path} can not be opened: ${why}`,
  details: { path },
})

async function use(): Promise<void> {
  const store = await open()
  await store.commit(created('s'))
  await store.commit({ sessionId: 's', facts: [receipt('m')] })
  await store.close()
}

describe('a store that is a symbolic link (RE-6)', () => {
  it('is made where the link leads, and the link stays', async () => {
    mkdirSync(at('elsewhere'))
    symlinkSync('elsewhere/real.db', path)
    const store = await open()
    expect(existsSync(at('elsewhere/real.db-wal'))).toBe(true)
    await store.close()
    await use()
    expect(readlinkSync(path)).toBe('elsewhere/real.db')
    expect(statSync(at('elsewhere/real.db')).mode & 0o777).toBe(0o600)
  })

  it('is followed through several links, and through linked directories', async () => {
    mkdirSync(at('a'))
    symlinkSync('a', at('b'))
    symlinkSync('b/real.db', at('one'))
    symlinkSync('one', path)
    await use()
    expect(lstatSync(at('a/real.db')).isFile()).toBe(true)
  })

  it('is refused where the link leads to no directory: what belongs there may come back', async () => {
    symlinkSync('gone/real.db', path)
    const why = `it is a symbolic link to ${at('gone/real.db')}, and there is no such directory: mount what belongs there, or name another file`
    await expect(open()).rejects.toMatchObject(refused(why))
    expect(existsSync(at('gone'))).toBe(false)
    rmSync(path)
    symlinkSync('nowhere', at('linked'))
    path = at('linked/store.db')
    await expect(open()).rejects.toMatchObject(refused(`${at('linked')} is a symbolic link that leads nowhere: name a file elsewhere`))
  })

  it('is refused where links lead in a circle', async () => {
    symlinkSync('other', path)
    symlinkSync('store.db', at('other'))
    await expect(open()).rejects.toMatchObject(refused('its symbolic links lead in a circle: name a file (ELOOP)'))
  })
})

describe('a path that can be no store (RE-6)', () => {
  it.each(['-wal', '-shm', '-journal'])('is one that has a directory in the place of %s', async (suffix) => {
    mkdirSync(`${path}${suffix}`)
    const why = `${path}${suffix} is a directory, and no regular file: move it away`
    await expect(open()).rejects.toMatchObject(refused(why))
    expect(existsSync(path)).toBe(false)
  })

  it('is one that is too long', async () => {
    path = at('x'.repeat(300))
    await expect(open()).rejects.toMatchObject(refused('its path is too long: name a file with a shorter one (ENAMETOOLONG)'))
  })

  it.each([
    ['text', 'Dear diary'],
    ['a program', '#!/bin/sh\necho hello\n'.repeat(500)],
    ['an archive', Buffer.concat([Buffer.from('PK\x03\x04'), Buffer.alloc(10_000, 7)])],
  ])('is the file of another program, which stays as it is: %s', async (_, content) => {
    writeFileSync(path, content)
    const message = expect.stringMatching(
      /is not a Quiesce store: name another file, or move this one away; if it was one, put a backup in its place/,
    )
    await expect(open()).rejects.toMatchObject({ code: 'storage_unavailable', message, details: { path } })
    expect(readFileSync(path).equals(Buffer.from(content))).toBe(true)
    expect(['-wal', '-shm', '-journal'].filter((suffix) => existsSync(`${path}${suffix}`))).toEqual([])
  })

  it('is the database of another program, which stays as it is', async () => {
    const other = openDatabase(path)
    other.exec("PRAGMA user_version = 7; CREATE TABLE songs (title TEXT); INSERT INTO songs VALUES ('x')")
    other.close()
    const before = readFileSync(path)
    const message = `${path} is a database of another program: name another file as the store`
    await expect(open()).rejects.toMatchObject({ code: 'storage_unavailable', message, details: { path } })
    expect(readFileSync(path).equals(before)).toBe(true)
  })

  it('is nothing yet, or empty: then a store is made', async () => {
    writeFileSync(path, '')
    await use()
    expect(statSync(path).size).toBeGreaterThan(0)
  })
})
