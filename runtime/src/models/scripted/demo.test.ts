import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { systemClock } from '../../base/clock.ts'
import { builtInTools } from '../../tools/built-in.ts'
import { searchHere } from '../../tools/search/search-here.fixture.ts'
import { temporaryWorkspace, type Workspace } from '../../tools/temporary-workspace.ts'
import type { Tool } from '../../tools/tool.ts'
import type { ModelMessage, ModelPart } from '../model.ts'
import { demo } from './demo.ts'
import { ScriptedModel } from './scripted-model.ts'

type Call = Extract<ModelPart, { type: 'tool_call' }>

interface Played {
  /** The names of the tools that were called, in order. */
  calls: string[]
  answer: string
  /** Pieces of the answer. */
  pieces: number
}

/** A turn as an agent plays it, with the real tools. `between` is told each call before it runs, and may add steering. */
async function play(
  workspace: Workspace,
  messages: ModelMessage[],
  between: (call: Call) => string | undefined = () => undefined,
): Promise<Played> {
  const model = new ScriptedModel('scripted/demo', demo)
  const tools: Tool[] = builtInTools(systemClock, searchHere)
  const calls: string[] = []
  for (;;) {
    const parts: ModelPart[] = []
    const specs = tools.map(({ name, description }) => ({ name, description, parameters: {} }))
    const request = { system: '', messages, tools: specs, options: {}, signal: workspace.context.signal }
    for await (const part of model.stream(request)) parts.push(part)
    const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []))
    const asked = parts.filter((part) => part.type === 'tool_call')
    if (asked.length === 0) return { calls, answer: texts.join(''), pieces: texts.length }
    messages.push({
      role: 'assistant',
      content: asked.map(({ name, input, vendorCallId }) => ({ type: 'tool_use', callId: vendorCallId, name, input })),
    })
    const content: ModelMessage['content'][number][] = []
    const steering: string[] = []
    for (const call of asked) {
      calls.push(call.name)
      const said = between(call)
      if (said !== undefined) steering.push(said)
      const tool = tools.find(({ name }) => name === call.name)
      const outcome = await (tool?.execute(tool.input.parse(call.input), workspace.context) ?? Promise.reject(new Error(call.name))).catch(
        (error: Error) => ({ content: error.message, isError: true }),
      )
      content.push({ type: 'tool_result', callId: call.vendorCallId, content: outcome.content, isError: outcome.isError })
    }
    messages.push({ role: 'tool', content }, ...steering.map(user))
  }
}

const user = (text: string): ModelMessage => ({ role: 'user', content: [{ type: 'text', text }] })

describe('the demo', () => {
  it('reads the files that are here', async () => {
    await using workspace = await temporaryWorkspace()
    writeFileSync(join(workspace.root, 'notes.txt'), '\nBuy milk\nand bread\n')
    writeFileSync(join(workspace.root, 'plan.md'), '# The plan\n')
    const { calls, answer, pieces } = await play(workspace, [user('Which files are here, and what do they say?')])
    expect(calls.slice(1)).toEqual(['read_file', 'read_file'])
    expect(answer).toBe('I found 2 files. notes.txt says: "Buy milk". plan.md says: "# The plan".')
    expect(pieces).toBeGreaterThan(2)
  })

  it('tells that there is no file', async () => {
    await using workspace = await temporaryWorkspace()
    expect((await play(workspace, [user('Which files are here, and what do they say?')])).answer).toMatch(/^I see no file here\./)
  })

  it('reads the file that the prompt names', async () => {
    await using workspace = await temporaryWorkspace()
    writeFileSync(join(workspace.root, 'notes.txt'), 'Buy milk\n')
    const { calls, answer } = await play(workspace, [user('What does notes.txt say?')])
    expect(calls).toEqual(['read_file'])
    expect(answer).toBe('notes.txt says: "Buy milk".')
    expect((await play(workspace, [user('What does gone.txt say?')])).answer).toMatch(/^I could not read gone\.txt\. The tool says: "/)
  })

  it('writes a haiku, and says it again in pieces', async () => {
    await using workspace = await temporaryWorkspace()
    const { calls, answer, pieces } = await play(workspace, [user('Write a haiku about logs to poems/haiku.txt')])
    expect(calls).toEqual(['write_file'])
    expect(answer).toContain(readFileSync(join(workspace.root, 'poems/haiku.txt'), 'utf8').trim())
    expect(pieces).toBeGreaterThan(3)
    expect((await play(workspace, [user('write a haiku to ../../haiku.txt')])).answer).toMatch(
      /^I could not write \.\.\/\.\.\/haiku\.txt\. The tool says: "/,
    )
  })

  const projects = {
    'add.mjs': {
      source: 'export function add(a, b) {\n  return a - b\n}\n',
      test: 'add.test.mjs',
      content:
        "import assert from 'node:assert'\nimport test from 'node:test'\nimport { add } from './add.mjs'\ntest('adds', () => assert.equal(add(1, 2), 3))\n",
    },
    'add.py': {
      source: 'def add(a, b):\n    return a * b\n',
      test: 'test_add.py',
      content:
        'import unittest\nfrom add import add\n\n\nclass Adds(unittest.TestCase):\n    def test_add(self):\n        self.assertEqual(add(1, 2), 3)\n',
    },
  }
  it.each(Object.entries(projects))('fixes the failing test of %s', async (name, { source, test, content }) => {
    await using workspace = await temporaryWorkspace()
    writeFileSync(join(workspace.root, name), source)
    writeFileSync(join(workspace.root, test), content)
    const { calls, answer } = await play(workspace, [user('Fix the failing test')])
    expect(calls.slice(1)).toEqual(['shell', 'read_file', 'edit_file', 'shell'])
    expect(answer).toBe(`I changed "${/return .*/.exec(source)?.[0]}" to "return a + b" in ${name}, and the test passes now.`)
    expect((await play(workspace, [user('Fix the failing test')])).answer).toMatch(/^I see no wrong operator in add\./)
  })

  it('runs a command, and tells how it ended', async () => {
    await using workspace = await temporaryWorkspace()
    const { calls, answer } = await play(workspace, [user('Run `echo one; exit 3` in the shell.')], () => 'Thank you')
    expect(calls).toEqual(['shell'])
    expect(answer).toBe('The shell says: "[exit status 3]". You also said: "Thank you", and I take that into account.')
  })

  it('waits for a file, and takes up what was said meanwhile', async () => {
    await using workspace = await temporaryWorkspace()
    const go = join(workspace.root, 'go')
    const messages = [user('Wait for the file go')]
    const { calls, answer } = await play(workspace, messages, () => {
      writeFileSync(go, '')
      return 'British spelling, please'
    })
    expect(existsSync(go)).toBe(true)
    expect(calls).toEqual(['shell'])
    expect(answer).toBe('The file go is there. You also said: "British spelling, please", and I take that into account.')
  })

  it('goes on after a wait that was cut off', async () => {
    await using workspace = await temporaryWorkspace()
    const cut: ModelMessage[] = [
      user('Wait for the file go'),
      { role: 'assistant', content: [{ type: 'tool_use', callId: 'c', name: 'shell', input: {} }] },
      { role: 'tool', content: [{ type: 'tool_result', callId: 'c', content: 'cancelled', isError: true }] },
    ]
    expect((await play(workspace, [...cut, user('Never mind')])).answer).toMatch(/^I stopped waiting for go\. You also said: "Never mind"/)
    expect((await play(workspace, [...cut, user('Write a haiku to h.txt')])).calls).toEqual(['write_file'])
  })

  it('repeats anything else, the same every time', async () => {
    await using workspace = await temporaryWorkspace()
    const { calls, answer } = await play(workspace, [user('What is   the\nweather?')])
    expect(calls).toEqual([])
    expect(answer).toBe('You asked: "What is the weather?". I am the scripted demo model: the same answer every time, and no network.')
    expect((await play(workspace, [user('What is   the\nweather?')])).answer).toBe(answer)
  })
})
