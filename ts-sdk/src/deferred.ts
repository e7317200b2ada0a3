// Owns a promise that is settled from outside.

export interface Deferred<T> {
  promise: Promise<T>
  resolve(value: T): void
  reject(error: unknown): void
}

export function deferred<T>(): Deferred<T> {
  let resolve: (value: T) => void = () => {}
  let reject: (error: unknown) => void = () => {}
  const promise = new Promise<T>((fulfil, refuse) => {
    resolve = fulfil
    reject = refuse
  })
  return { promise, resolve, reject }
}

/** Whether `promise` is fulfilled within `ms` milliseconds. */
export async function within(ms: number, promise: Promise<unknown>): Promise<boolean> {
  const late = deferred<boolean>()
  const timer = setTimeout(() => late.resolve(false), ms)
  try {
    return await Promise.race([promise.then(() => true), late.promise])
  } finally {
    clearTimeout(timer)
  }
}
