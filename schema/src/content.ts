// Owns what a message is made of: content blocks, conversation messages, token usage.
import * as z from 'zod/mini'
import { openEnum, openUnion } from './open.ts'
import { field, named } from './registry.ts'
import { MessageId, Seq } from './scalars.ts'

export const TextBlock = named('TextBlock', 'Plain text.', z.looseObject({ type: z.literal('text'), text: z.string() }))
export const ImageBlock = named(
  'ImageBlock',
  'An image: base64 `data` with its `mediaType`, or the `path` of a file under the roots.',
  z.looseObject({
    type: z.literal('image'),
    mediaType: z.optional(z.string()),
    data: z.optional(field('Base64, without a data: prefix.', z.string())),
    path: z.optional(z.string()),
  }),
)
export const FileBlock = named(
  'FileBlock',
  'A reference to a file under the roots, by path.',
  z.looseObject({ type: z.literal('file'), path: z.string() }),
)
export const ToolUseBlock = named(
  'ToolUseBlock',
  "A tool call that the model asked for. `callId` is the runtime's own; the vendor's is kept beside it.",
  z.looseObject({
    type: z.literal('tool_use'),
    callId: z.string(),
    vendorCallId: z.optional(z.string()),
    name: z.string(),
    input: field('The input as the model wrote it; user data, never renamed.', z.unknown()),
  }),
)
export const ToolResultBlock = named(
  'ToolResultBlock',
  'The answer to a tool call, as the model sees it.',
  z.looseObject({
    type: z.literal('tool_result'),
    callId: z.string(),
    content: z.string(),
    images: z.optional(field('What the tool showed, beside its words: images with `data` and `mediaType`.', z.array(ImageBlock))),
    isError: z.optional(z.boolean()),
  }),
)
export const ReasoningBlock = named(
  'ReasoningBlock',
  "Reasoning of the model; the provider's signature is kept verbatim.",
  z.looseObject({ type: z.literal('reasoning'), text: z.string(), signature: z.optional(z.string()) }),
)

export const ContentBlock = openUnion('ContentBlock', 'One block of a message. Unknown types are kept as they are.', 'type', {
  text: TextBlock,
  image: ImageBlock,
  file: FileBlock,
  tool_use: ToolUseBlock,
  tool_result: ToolResultBlock,
  reasoning: ReasoningBlock,
})

export const Content = named('Content', 'The blocks of a message, in order.', z.array(ContentBlock))

export const ContentInput = named(
  'ContentInput',
  'What a caller may give as content: a string (one text block) or blocks.',
  z.union([z.string().check(z.minLength(1)), z.array(ContentBlock).check(z.minLength(1))]),
)

export const Usage = named(
  'Usage',
  'Tokens of model requests, summed. `inputTokens` includes the cached ones, `outputTokens` the reasoning ones.',
  z.looseObject({
    inputTokens: z.int().check(z.minimum(0)),
    outputTokens: z.int().check(z.minimum(0)),
    cachedInputTokens: z.optional(z.int().check(z.minimum(0))),
    reasoningTokens: z.optional(z.int().check(z.minimum(0))),
  }),
)

export const Finish = openEnum('Finish', "How the model ended its answer, in the runtime's words (TU-5).", [
  'stop',
  'length',
  'tool_calls',
  'content_filter',
  'interrupted',
])

export const Role = openEnum('Role', 'Who speaks in a conversation message.', ['user', 'assistant', 'tool'])

export const Message = named(
  'Message',
  'One message of the conversation as the model sees it.',
  z.looseObject({
    role: Role,
    content: Content,
    messageId: z.optional(MessageId),
    seq: field('The fact that the message comes from.', Seq),
  }),
)
