// Owns the values that the steps of a case leave behind, and the paths that name them: `a.result.events[0].type`, `log.last`.
import { isObject, type Json } from './case.ts'
import { HarnessError } from './harness-error.ts'

/** What a path finds below a value, or undefined. `first` and `last` stand for the ends of a list, and its `length` is its length. */
export function valueAt(root: unknown, path: string): unknown {
  let value = root
  for (const [, name, index] of path.matchAll(/([^.[\]]+)|\[(\d+)\]/g)) {
    if (Array.isArray(value)) value = inList(value, index ?? name ?? '')
    else if (isObject(value)) value = Object.hasOwn(value, name ?? index ?? '') ? value[name ?? index ?? ''] : undefined
    else return undefined
  }
  return value
}

function inList(list: readonly unknown[], name: string): unknown {
  if (name === 'first') return list[0]
  if (name === 'last') return list.at(-1)
  if (name === 'length') return list.length
  return list[Number(name)]
}

export class Values {
  readonly #root: { [name: string]: Json } = {}

  set(name: string, value: Json): void {
    this.#root[name] = value
  }

  at(path: string): unknown {
    return valueAt(this.#root, path)
  }

  /** The same data with each `${path}` replaced: as the whole of a text by the value itself, within one by its text. */
  filled(data: Json): Json {
    if (typeof data === 'string') return this.#filledText(data)
    if (Array.isArray(data)) return data.map((each) => this.filled(each))
    if (!isObject(data)) return data
    return Object.fromEntries(Object.entries(data).map(([key, each]) => [key, this.filled(each)]))
  }

  #filledText(text: string): Json {
    const whole = /^\$\{([^}]+)\}$/.exec(text)?.[1]
    if (whole !== undefined) return this.#known(whole)
    return text.replaceAll(/\$\{([^}]+)\}/g, (_, path: string) => {
      const value = this.#known(path)
      return typeof value === 'string' ? value : JSON.stringify(value)
    })
  }

  #known(path: string): Json {
    const value = this.at(path)
    if (value === undefined)
      throw new HarnessError(`\${${path}} names nothing that a step before left behind; there are ${Object.keys(this.#root).join(', ')}`)
    return value as Json
  }
}
