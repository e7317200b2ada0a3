// Owns the making of a kernel pipe: what a process writes to, and what this one reads from.
import { closeSync, constants, mkdtempSync, openSync, rmdirSync, rmSync } from 'node:fs'
import { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { searchPath } from './environment.ts'

export interface Pipe {
  reader: Socket
  /** File descriptor; the maker closes it once a process has it. */
  writer: number
}

/**
 * Makes a pipe by way of a fifo that is gone before this answers. The pipes that child processes get otherwise are sockets:
 * opening /dev/stdout or /dev/stderr fails on them, and two of them lose the order of what was written.
 * *Contract:* rejects where the temporary directory can't be written, or there is no mkfifo.
 */
export async function makePipe(): Promise<Pipe> {
  try {
    return await throughFifo()
  } catch (error) {
    throw new Error(`no pipe can be made for the output of a command: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** Of a few system calls each: on the thread pool they would take longer than here. */
async function throughFifo(): Promise<Pipe> {
  const directory = mkdtempSync(join(tmpdir(), 'quiesce-'))
  const fifo = join(directory, 'pipe')
  try {
    await makeFifo(fifo)
    // In this order, and the reader without blocking: else each open would wait for the other.
    const reader = openSync(fifo, constants.O_RDONLY | constants.O_NONBLOCK)
    try {
      return { writer: openSync(fifo, constants.O_WRONLY), reader: new Socket({ fd: reader, readable: true, writable: false }) }
    } catch (error) {
      closeSync(reader)
      throw error
    }
  } finally {
    rmSync(fifo, { force: true })
    rmdirSync(directory)
  }
}

/** Node has no call for it. The program has no pipes and no locale of its own: making and loading those would take longer than it runs. */
async function makeFifo(path: string): Promise<void> {
  const { spawn } = await import('node:child_process')
  return new Promise((resolve, reject) => {
    spawn('mkfifo', [path], { stdio: 'ignore', env: { LC_ALL: 'C', PATH: searchPath(process.env.PATH) } })
      .once('error', reject)
      .once('exit', (code, signal) => {
        if (code === 0) resolve()
        else reject(new Error(`mkfifo ${path} ended with ${signal ?? `status ${code}`}`))
      })
  })
}
