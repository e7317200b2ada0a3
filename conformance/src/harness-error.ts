// Owns the error of a suite that can't do its work: a bad case, a driver that isn't one. Never the verdict on a server or an SDK.
export class HarnessError extends Error {
  override readonly name = 'HarnessError'
}
