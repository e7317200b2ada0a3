import fc from 'fast-check'
import { expect, it } from 'vitest'
import { Queue } from './queue.ts'

it('gives every item once and in order, whoever comes first', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.boolean(), { maxLength: 60 }), async (pushes) => {
      const queue = new Queue<{ n: number }>()
      const asked: Promise<IteratorResult<{ n: number }, undefined>>[] = []
      let n = 0
      for (const push of pushes) {
        if (push) queue.push({ n: n++ })
        else asked.push(queue.next())
      }
      queue.finish()
      const rest: number[] = []
      const got = (await Promise.all(asked)).flatMap(({ value }) => value?.n ?? [])
      for await (const item of queue) rest.push(item.n)
      expect([...got, ...rest]).toEqual([...Array(n).keys()])
    }),
  )
})

it('gives what waits before it throws, and throws once', async () => {
  const queue = new Queue<{ n: number }>()
  queue.push({ n: 1 })
  queue.finish({ error: new Error('over') })
  queue.push({ n: 2 })
  expect(await queue.next()).toEqual({ done: false, value: { n: 1 } })
  await expect(queue.next()).rejects.toThrow('over')
  expect(await queue.next()).toEqual({ done: true, value: undefined })
})

it('is stopped by its consumer, also while a next() waits, and keeps nothing', async () => {
  const queue = new Queue<{ n: number }>()
  const waiting = queue.next()
  await queue.return()
  expect(await waiting).toEqual({ done: true, value: undefined })
  queue.push({ n: 1 })
  queue.finish({ error: new Error('late') })
  expect([queue.length, queue.ended]).toEqual([0, true])
  expect(await queue.next()).toEqual({ done: true, value: undefined })
})
