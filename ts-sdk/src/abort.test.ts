import { expect, it, vi } from 'vitest'
import { onAbort } from './abort.ts'

it('listens once it is asked to and no longer, also to a signal that many listen to', () => {
  const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
  const controller = new AbortController()
  const calls: number[] = []
  const deafen = Array.from({ length: 100 }, (_, n) => onAbort(controller.signal, () => calls.push(n)))
  for (const stop of deafen.slice(1)) stop()
  controller.abort()
  expect(calls).toEqual([0])
  expect(warn).not.toHaveBeenCalled()
  warn.mockRestore()
})

it('speaks at once where the signal has spoken, and never without a signal', () => {
  const aborted = vi.fn()
  onAbort(AbortSignal.abort(), aborted)()
  expect(aborted).toHaveBeenCalledTimes(1)
  onAbort(undefined, aborted)()
  expect(aborted).toHaveBeenCalledTimes(1)
})
