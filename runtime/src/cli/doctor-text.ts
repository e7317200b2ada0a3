// Owns how a diagnosis reads in a terminal of 80 columns.
import type { ProviderReport } from '../models/provider-report.ts'
import type { Diagnosis } from './doctor.ts'

const columns = 80

export function diagnosisText(diagnosis: Diagnosis): string {
  const { version, node, platform, providers, refusedProviders, probe, problems } = diagnosis
  const sections = [
    [`quiesce ${version}, node ${node}, ${platform}`],
    settings(diagnosis),
    ['providers', ...table(providers.map((provider) => [provider.name, providerLines(provider)]))],
    Object.keys(refusedProviders).length === 0
      ? []
      : ['providers that are not taken', ...table(Object.entries(refusedProviders).map(([name, why]) => [name, [why]]))],
    probe === undefined ? [] : ['probe', ...table([[probe.model ?? 'no model', [probeLine(probe)]]])],
    problems.length === 0 ? ['All good.'] : ['Something is missing:', ...problems.flatMap((problem) => wrapped(problem, '- ', '  '))],
  ]
  return `${sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`
}

type Row = [label: string, lines: string[]]

function settings({ store, model, logLevel, retry, files, workspace }: Diagnosis): string[] {
  const rows: Row[] = [
    ['store', [sourced(store), store.opens ? `opens: ${store.driver}, version ${store.version}` : 'does not open']],
    ['model', [model.value === null ? 'none' : sourced({ value: model.value, source: model.source })]],
    ['log level', [sourced(logLevel)]],
    ['retries', retryLines(retry)],
    ['files', files.map(({ path, found }) => `${path}: ${found ? 'read' : 'not there'}`)],
  ]
  if (files[0]?.found === true) rows.push(['workspace', [trustLine(workspace)]])
  return table(rows)
}

function trustLine({ trusted, source }: Diagnosis['workspace']): string {
  return trusted
    ? `trusted, by ${source}`
    : 'not trusted: its quiesce.yaml chooses among your providers, and defines no provider, script or store'
}

function retryLines({ value, source }: Diagnosis['retry']): string[] {
  const { attempts, firstDelayMs, maxDelayMs, maxRetryAfterMs, firstByteMs, betweenBytesMs } = value
  return [
    `${attempts} attempts, ${ms(firstDelayMs)} apart, doubling to ${ms(maxDelayMs)}`,
    `Retry-After up to ${ms(maxRetryAfterMs)}`,
    sourced({ value: `stalled after ${ms(firstByteMs)} without a byte, or ${ms(betweenBytesMs)} between bytes`, source }),
  ]
}

const apis = { messages: 'Anthropic Messages', responses: 'OpenAI Responses', chat: 'chat completions' }

function providerLines(provider: ProviderReport & { source: string }): string[] {
  const { configured, reason, api, baseURL, baseURLFrom, key, contextWindow, model, modelOptions, retry, warning, source, name } = provider
  const state = configured ? 'configured' : `not configured: ${reason ?? ''}`
  const defined = source === 'built in' ? [] : [`defined in ${source}`]
  if (api === null) return [state, 'plays scripts: asks no server', ...defined]
  const address =
    baseURLFrom === 'default' || baseURLFrom === 'baseURL' ? baseURL : sourced({ value: `${baseURL}`, source: `${baseURLFrom}` })
  return [
    state,
    baseURL === null ? apis[api] : `${apis[api]}, ${address}`,
    key === null ? 'no key is sent' : `key: ${key.variable}, ${key.set ? 'set' : 'not set'}${warning === undefined ? '' : `; ${warning}`}`,
    ...(contextWindow === null ? [] : [`context window: ${contextWindow} tokens`]),
    ...(model === null ? [] : [`${name} alone means ${name}/${model}`]),
    ...(modelOptions === undefined ? [] : [`model options: ${JSON.stringify(modelOptions)}`]),
    ...(retry === undefined ? [] : [`retries of its own: ${JSON.stringify(retry)}`]),
    ...defined,
  ]
}

function probeLine(probe: NonNullable<Diagnosis['probe']>): string {
  return probe.ok ? `answers, in ${probe.latencyMs} ms` : `does not answer: ${probe.message}`
}

function sourced({ value, source }: { value: string; source: string }): string {
  return `${value} (${source === 'default' ? 'by' : 'from'}\u00a0${source})`
}

/** 500 ms, 4 s. */
function ms(count: number): string {
  return count < 1000 || count % 1000 !== 0 ? `${count} ms` : `${count / 1000} s`
}

/** Labels on the left, each line on the right wrapped behind its label. */
function table(rows: readonly Row[]): string[] {
  const width = Math.min(32, Math.max(...rows.map(([label]) => label.length)))
  const indent = ' '.repeat(width + 4)
  return rows.flatMap(([label, lines]) => {
    const first = `  ${label.padEnd(width)}  `
    const isLong = label.length > width
    return [...(isLong ? [`  ${label}`] : []), ...lines.flatMap((line, at) => wrapped(line, at === 0 && !isLong ? first : indent, indent))]
  })
}

/** A text in lines, broken between words; a word that is too long for a line has its own. */
function wrapped(text: string, first: string, indent: string): string[] {
  const lines: string[] = []
  let line = first
  let isEmpty = true
  for (const word of visible(text)
    .split(/[ \n]+/)
    .filter((part) => part !== '')) {
    if (!isEmpty && line.length + 1 + word.length > columns) {
      lines.push(line)
      line = `${indent}${word}`
    } else line += isEmpty ? word : ` ${word}`
    isEmpty = false
  }
  return [...lines, line.trimEnd()].map((each) => each.replaceAll('\u00a0', ' '))
}

/** A file that anybody wrote may hold what moves the cursor, or turns a line around. */
function visible(text: string): string {
  return text.replace(/[^\P{Cc}\n]|[\u202a-\u202e\u2066-\u2069]/gu, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
