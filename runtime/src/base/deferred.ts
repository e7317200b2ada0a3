// Owns the promise that somebody else settles.

export interface Deferred<T = void> {
  readonly promise: Promise<T>
  resolve(value: T): void
  reject(error: unknown): void
}

export function deferred<T = void>(): Deferred<T> {
  let settle: { resolve: (value: T) => void; reject: (error: unknown) => void } | undefined
  const promise = new Promise<T>((resolve, reject) => {
    settle = { resolve, reject }
  })
  return { promise, resolve: (value) => settle?.resolve(value), reject: (error) => settle?.reject(error) }
}
