// Owns the words for what the file system refuses, as a model reads them.

/** An error of the file system in words for the model; `given` is the path that it asked for. */
export function fileError(error: unknown, given: string): Error {
  const code = codeOf(error)
  const words = code === undefined ? undefined : meanings.get(code)
  if (words !== undefined) return new Error(`${given}: ${words}`)
  return new Error(`${given}: ${code ?? (error instanceof Error ? error.message : String(error))}`)
}

/** The system's code of an error, for example `ENOENT`. */
export function codeOf(error: unknown): string | undefined {
  return typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

/** An error as the system would give it. */
export function systemError(code: string): Error {
  return Object.assign(new Error(meanings.get(code) ?? code), { code })
}

const meanings = new Map([
  ['ENOENT', 'no such file or directory'],
  ['EACCES', 'permission denied'],
  ['EPERM', 'operation not permitted'],
  ['EISDIR', 'is a directory, not a file'],
  ['ENOTDIR', 'a part of the path that should be a directory is a file'],
  ['EEXIST', 'a part of the path that should be a directory is a file'],
  ['ELOOP', 'its symbolic links lead in a circle, or one was put in its place just now'],
  ['EBUSY', 'the system holds it in its place (a mount point, for example), so it can not be replaced'],
  ['ENAMETOOLONG', 'the name is too long for the file system'],
  ['ENOSPC', 'no space is left on the disk'],
  ['EDQUOT', 'the disk quota is used up'],
  ['EROFS', 'the file system is read-only'],
  ['EMFILE', 'too many files are open'],
])
