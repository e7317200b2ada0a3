// Owns whether one path is below another, by their words alone.
import { sep } from 'node:path'

/** Whether `path` is a root or below one. */
export function isWithin(path: string, roots: readonly string[]): boolean {
  return roots.some((root) => path === root || path.startsWith(root.endsWith(sep) ? root : root + sep))
}
