import { describe, expect, it } from 'vitest'
import type { Json } from './case.ts'
import { player, unsayable, withUsage } from './script.ts'

const user = (content: Json) => ({ role: 'user', content })
const said = { role: 'assistant', content: 'hm' }
const called = { role: 'assistant', tool_calls: [{ id: 'c' }] }
const ask = (script: Json, ...messages: unknown[]) => player(script)({ messages })

describe('a script over chat completions', () => {
  it('answers by the number of answers so far', () => {
    const script = [{ text: 'one' }, { tool: { name: 't', input: { a: '{{input}}' } } }]
    expect(ask(script, user('x'))).toMatchObject({ chunks: ['one'] })
    expect(ask({ steps: script }, user('x'), said, user([{ type: 'text', text: 'y' }]))).toMatchObject({
      toolCalls: [{ id: 'call_1_0', name: 't', arguments: { a: 'y' } }],
    })
    expect(ask(script, user('x'), said, said)).toBeUndefined()
  })

  it('finds the case of the latest message that opens an exchange, and counts from there', () => {
    const script = {
      cases: [
        { when: 'first', steps: [{ text: 'a' }, { text: 'b' }] },
        { when: '/^sec/', steps: [{ text: 'c' }] },
      ],
    }
    expect(ask(script, user('the first'))).toMatchObject({ chunks: ['a'] })
    expect(ask(script, user('the first'), called, { role: 'tool', content: 'r' }, user('steer'))).toMatchObject({ chunks: ['b'] })
    expect(ask(script, user('the first'), said, user('second'))).toMatchObject({ chunks: ['c'] })
    expect(ask(script, user('third'))).toBeUndefined()
  })

  it('fails so many times as it is to, for one conversation, and anew once it has succeeded', () => {
    const play = player([{ text: 'ok', error: { status: 500, times: 2, retryAfterMs: 3 } }])
    const one = () => play({ messages: [user('x')] })
    expect(one()).toMatchObject({ status: 500, headers: { 'retry-after-ms': '3' } })
    expect(play({ messages: [user('another')] })).toMatchObject({ status: 500 })
    expect(one()).toMatchObject({ status: 500 })
    expect(one()).toMatchObject({ chunks: ['ok'] })
    expect(one()).toMatchObject({ status: 500 })
  })

  it('breaks off, stalls, or says nothing at all', () => {
    expect(ask([{ text: 'a', disconnect: {} }])).toMatchObject({ chunks: ['a'], end: 'drop' })
    expect(ask([{ text: 'a', stall: {} }])).toMatchObject({ chunks: ['a'], end: 'stall' })
    expect(ask([{ stall: {} }])).toMatchObject({ silent: true })
  })

  it("tells usage in the vendor's words", () => {
    const usage = { inputTokens: 5, outputTokens: 4, cachedInputTokens: 3, reasoningTokens: 2 }
    expect(ask([{ text: 'a', usage }])?.usage).toEqual({
      ...{ prompt_tokens: 5, completion_tokens: 4, total_tokens: 9 },
      ...{ prompt_tokens_details: { cached_tokens: 3 }, completion_tokens_details: { reasoning_tokens: 2 } },
    })
  })

  it('costs the same however it is played', () => {
    const usage = { inputTokens: 11, outputTokens: 7 }
    expect(withUsage([{ text: 'a' }, { usage: { inputTokens: 1, outputTokens: 1 } }])).toEqual([
      { text: 'a', usage },
      { usage: { inputTokens: 1, outputTokens: 1 } },
    ])
    expect(withUsage({ cases: [{ when: 'x', steps: [{}] }] })).toEqual({ cases: [{ when: 'x', steps: [{ usage }] }] })
    expect(ask(withUsage([{}]))?.usage).toMatchObject({ prompt_tokens: 11, completion_tokens: 7 })
  })

  it('names what cannot be said', () => {
    expect(unsayable([{ text: 'a' }, { error: { status: 500 } }])).toEqual([])
    expect(unsayable({ cases: [{ steps: [{ error: { code: 'model_auth' } }] }] })).toEqual([
      'model.cases[0].steps[0]: an error without an HTTP status',
      'model.cases[0].steps[0]: an error of another code than its status means',
    ])
  })
})
