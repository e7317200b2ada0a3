// Owns what a person or a program sees of a run: the answer on stdout in the form that was asked for, progress on stderr.
import type { AnyFact } from '@quiesce/schema'
import { type RunResult, textOf } from '../log/run.ts'
import type { DeltaOf, IntervalObserver } from './interval.ts'
import type { Output } from './program.ts'
import type { Terminal } from './terminal.ts'

export interface Renderer extends IntervalObserver {
  /** The run is over. */
  end(result: RunResult): void
}

export function renderer(output: Output, terminal: Terminal, quiet: boolean): Renderer {
  const progress = quiet || !terminal.stderrIsTty ? silent : progressLines(terminal)
  const answer = answers[output](terminal)
  return {
    fact: (fact) => {
      answer.fact(fact)
      progress.fact(fact)
    },
    delta: (delta) => answer.delta(delta),
    waiting: () => progress.waiting(),
    end: (result) => answer.end(result),
  }
}

const silent: Renderer = { fact: () => undefined, delta: () => undefined, waiting: () => undefined, end: () => undefined }

const answers: Readonly<Record<Output, (terminal: Terminal) => Renderer>> = {
  text: (terminal) => (terminal.stdoutIsTty ? liveText(terminal) : finalText(terminal)),
  json: ({ print }) => ({ ...silent, end: (result) => print(`${JSON.stringify(result)}\n`) }),
  jsonl: ({ print }) => ({ ...silent, fact: (fact) => print(`${JSON.stringify(fact)}\n`) }),
}

const finalText = ({ print }: Terminal): Renderer => ({
  ...silent,
  end: ({ finalResponse }) => {
    if (finalResponse !== '') print(finalResponse.endsWith('\n') ? finalResponse : `${finalResponse}\n`)
  },
})

/** Text as it comes; each message ends its line. What no delta brought comes with its message. */
function liveText({ print }: Terminal): Renderer {
  let shown = { stepId: '', text: '' }
  return {
    ...silent,
    delta: ({ kind, stepId, text }: DeltaOf) => {
      if (kind !== 'text') return
      if (stepId !== shown.stepId) shown = { stepId, text: '' }
      shown.text += text
      print(text)
    },
    fact: (fact: AnyFact) => {
      if (fact.type === 'model/retry' && shown.text !== '') {
        // What had arrived is void: the next attempt starts the answer anew.
        shown = { stepId: '', text: '' }
        print('\n')
      }
      if (fact.type !== 'assistant/message') return
      const whole = textOf(fact.data)
      const before = fact.data.stepId === shown.stepId ? shown.text : ''
      if (whole.startsWith(before)) print(whole.slice(before.length))
      else print(`\n${whole}`)
      if (whole !== '' && !whole.endsWith('\n')) print('\n')
    },
  }
}

const MAX_SHOWN = 100

/** One line per tool call, retry and failed result. */
function progressLines({ say }: Terminal): Renderer {
  const names = new Map<string, string>()
  return {
    ...silent,
    waiting: () => say('waiting: the session is busy'),
    fact: (fact) => {
      switch (fact.type) {
        case 'tool/call':
          names.set(fact.data.callId, fact.data.name)
          say(`• ${fact.data.name} ${inputLine(fact.data.input)}`)
          break
        case 'tool/result':
          if (fact.data.isError) say(`  ${names.get(fact.data.callId) ?? fact.data.callId}: ${cut(fact.data.content)}`)
          break
        case 'model/retry':
          say(`• ${fact.data.error.code}: again in ${(fact.data.delayMs / 1000).toFixed(1)} s`)
      }
    },
  }
}

/** The most telling part of a call's input, on one line. */
function inputLine(input: unknown): string {
  const values = typeof input === 'object' && input !== null ? Object.values(input) : [input]
  return cut(values.filter((value) => typeof value === 'string' || typeof value === 'number').join(' '))
}

function cut(text: string): string {
  // A tool's text may hold what steers a terminal.
  const line = text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim()
  return line.length > MAX_SHOWN ? `${line.slice(0, MAX_SHOWN - 1)}…` : line
}
