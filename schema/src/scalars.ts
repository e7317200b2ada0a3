// Owns the small types that the others are made of: ids, sequence numbers, times, JSON values.
import * as z from 'zod/mini'
import { named } from './registry.ts'

export const SessionId = named(
  'SessionId',
  'Identifies a session. 1 to 128 characters out of letters, digits, `.`, `_`, `:` and `-`; never used again after a delete.',
  z.string().check(z.regex(/^[A-Za-z0-9._:-]{1,128}$/, 'must be 1 to 128 letters, digits, ".", "_", ":" or "-"')),
)
export const MessageId = named(
  'MessageId',
  'Identifies an inbox message, unique per session (IN-3). The prefixes `goal:`, `settle:` and `call:` are reserved.',
  z.string().check(z.minLength(1), z.maxLength(200)),
)
export const Seq = named(
  'Seq',
  'Position of a fact in its session: starts at 1, no gaps. 0 stands for "before the first fact".',
  z.int().check(z.minimum(0)),
)
export const UnixMs = named('UnixMs', 'A moment, in integer milliseconds since the Unix epoch.', z.int())
export const Metadata = named('Metadata', 'Data of the user, kept as it is and never renamed.', z.record(z.string(), z.unknown()))
export const JsonSchema = named('JsonSchema', 'A JSON Schema object, passed on as it is.', z.record(z.string(), z.unknown()))
