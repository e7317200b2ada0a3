// Owns how the path of a file is written in a list with one on each line.

/** A name with control characters, which would look like two lines or none, comes as a JSON string. */
export function shownPath(path: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  return /[\0-\x1f\x7f\u2028\u2029]/.test(path) ? JSON.stringify(path) : path
}
