// Owns a promise that is settled from outside.
export interface Deferred<T = void> {
  readonly promise: Promise<T>
  resolve(value: T): void
  reject(error: Error): void
}

export function deferred<T = void>(): Deferred<T> {
  let resolve: (value: T) => void = () => undefined
  let reject: (error: Error) => void = () => undefined
  const promise = new Promise<T>((yes, no) => {
    resolve = yes
    reject = no
  })
  // Whoever waits hears of it; nobody may be waiting yet.
  promise.catch(() => undefined)
  return { promise, resolve, reject }
}
