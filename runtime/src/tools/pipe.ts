// Owns the making of a kernel pipe: what a process writes to, and what this one reads from.
import { closeSync, constants, openSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

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

async function throughFifo(): Promise<Pipe> {
  const directory = await mkdtemp(join(tmpdir(), 'quiesce-'))
  try {
    const fifo = join(directory, 'pipe')
    const { execFile } = await import('node:child_process')
    await promisify(execFile)('mkfifo', [fifo])
    // In this order, and the reader without blocking: else each open would wait for the other.
    const reader = openSync(fifo, constants.O_RDONLY | constants.O_NONBLOCK)
    try {
      return { writer: openSync(fifo, constants.O_WRONLY), reader: new Socket({ fd: reader, readable: true, writable: false }) }
    } catch (error) {
      closeSync(reader)
      throw error
    }
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}
