// Owns what an interrupted run leaves: nothing. Whoever starts a process or makes a directory says here how it ends, until it has.

const endings = new Set<() => void>()

/** Runs at the end of this process, whatever ends it; the answer takes it back. */
export function atExit(end: () => void): () => void {
  if (endings.size === 0) process.on('exit', endAll)
  endings.add(end)
  return () => {
    endings.delete(end)
    if (endings.size === 0) process.off('exit', endAll)
  }
}

/** The signals that end a run become an end as any other, with the status that a shell expects of them. */
export function endOnSignals(): void {
  for (const [signal, status] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)
    process.once(signal, () => process.exit(status))
}

/** The latest first: a directory is removed after what wrote to it was killed. */
function endAll(): void {
  for (const end of [...endings].toReversed()) {
    try {
      end()
    } catch {
      // What is gone needs no end; the others do.
    }
  }
}
