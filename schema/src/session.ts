// Owns what a session is configured with and how it is described; and what is waited for.
import * as z from 'zod/mini'
import { Usage } from './content.ts'
import { openEnum, openUnion } from './open.ts'
import { field, named } from './registry.ts'
import { JsonSchema, Metadata, Seq, SessionId, UnixMs } from './scalars.ts'

export const AgentStatusName = openEnum('AgentStatusName', 'Status of the whole agent.', ['running', 'idle'])

export const WaitingAgent = named(
  'WaitingAgent',
  'A continuable child that is not settled.',
  z.looseObject({ kind: z.literal('agent'), sessionId: SessionId }),
)
export const WaitingGoal = named(
  'WaitingGoal',
  'A goal whose next round will be enqueued.',
  z.looseObject({ kind: z.literal('goal'), goalId: z.string() }),
)
export const WaitingOn = openUnion('WaitingOn', 'What an idle agent still waits on (ST-5).', 'kind', {
  agent: WaitingAgent,
  goal: WaitingGoal,
})

export const BlockedOnPermission = named(
  'BlockedOnPermission',
  'A permission request without a decision.',
  z.looseObject({ kind: z.literal('permission'), requestId: z.string(), sinceMs: UnixMs }),
)
export const BlockedOnTool = named(
  'BlockedOnTool',
  'A call that a client tool has not answered.',
  z.looseObject({ kind: z.literal('tool'), callId: z.string(), sinceMs: UnixMs }),
)
export const BlockedOn = openUnion('BlockedOn', 'What a running agent waits for (ST-7).', 'kind', {
  permission: BlockedOnPermission,
  tool: BlockedOnTool,
})

export const PermissionMode = named('PermissionMode', 'What is allowed without asking (CB-5).', z.enum(['read-only', 'edit', 'allow-all']))
export const PermissionRule = named(
  'PermissionRule',
  'One rule; the first that matches wins, before the mode.',
  z.looseObject({ tool: z.string(), pattern: z.optional(z.string()), action: z.enum(['allow', 'ask', 'deny']) }),
)
export const PermissionPolicy = named(
  'PermissionPolicy',
  'A mode with rules.',
  z.looseObject({ mode: PermissionMode, rules: z.array(PermissionRule) }),
)
export const Permissions = named('Permissions', 'A mode, or a mode with rules.', z.union([PermissionMode, PermissionPolicy]))

export const TurnLimits = named(
  'TurnLimits',
  'Bounds of one turn.',
  z.looseObject({
    maxSteps: z.optional(z.int().check(z.minimum(1))),
    maxTotalTokens: z.optional(z.int().check(z.minimum(1))),
    maxCost: z.optional(z.number()),
  }),
)
export const Limits = named(
  'Limits',
  'Bounds of a session. `maxSteps` is per turn, default 200.',
  z.looseObject({
    maxSteps: z.optional(z.int().check(z.minimum(1))),
    maxTotalTokens: z.optional(z.int().check(z.minimum(1))),
    maxCost: z.optional(z.number()),
    perTurn: z.optional(TurnLimits),
  }),
)
export const ModelOptions = named(
  'ModelOptions',
  'Options of each model request.',
  z.looseObject({
    temperature: z.optional(z.number()),
    maxOutputTokens: z.optional(z.int().check(z.minimum(1))),
    reasoningEffort: z.optional(z.string()),
    stop: z.optional(z.array(z.string())),
    seed: z.optional(z.int()),
    providerOptions: z.optional(field('Passed through to the provider.', Metadata)),
  }),
)
export const ClientTool = named(
  'ClientTool',
  'A tool that a client provides.',
  z.looseObject({
    name: z.string().check(z.regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 letters, digits, "_" or "-"')),
    description: z.string(),
    parameters: JsonSchema,
    parallel: z.optional(z.boolean()),
    timeoutMs: z.optional(z.int().check(z.minimum(1))),
  }),
)
export const McpServer = named(
  'McpServer',
  'An MCP server of the session: a `command` with `args` (stdio), or a `url`.',
  z.looseObject({
    command: z.optional(z.string()),
    args: z.optional(z.array(z.string())),
    env: z.optional(z.record(z.string(), z.string())),
    url: z.optional(z.string()),
    headers: z.optional(z.record(z.string(), z.string())),
  }),
)
export const RecoveryPolicy = named('RecoveryPolicy', 'What follows a turn that a crash interrupted (RE-2).', z.enum(['resume', 'settle']))

const configShape = () => ({
  cwd: field('Absolute path of the working directory.', z.string()),
  roots: field('Absolute paths that file tools stay inside; the cwd is always one.', z.array(z.string())),
  model: field('`provider/model`.', z.string()),
  modelOptions: z.optional(ModelOptions),
  system: z.optional(field('Replaces the default system text.', z.string())),
  instructions: z.optional(field('Joined to the system text.', z.string())),
  tools: z.optional(field('Names and patterns (`*`) of the tools that are on; default: all built in.', z.array(z.string()))),
  clientTools: z.optional(z.array(ClientTool)),
  mcpServers: z.optional(z.record(z.string(), McpServer)),
  permissions: Permissions,
  env: z.optional(field("Environment of the tools' processes, beside the allow-list.", z.record(z.string(), z.string()))),
  limits: Limits,
  outputSchema: z.optional(JsonSchema),
  recovery: z.optional(RecoveryPolicy),
  title: z.optional(z.string()),
  metadata: Metadata,
})

export const SessionConfig = named('SessionConfig', 'What a session was created with.', z.looseObject(configShape()))

export const SessionChange = named(
  'SessionChange',
  'What an update sets; an absent field stays.',
  z.looseObject({
    title: z.optional(z.string()),
    metadata: z.optional(Metadata),
    model: z.optional(z.string()),
    modelOptions: z.optional(ModelOptions),
    permissions: z.optional(Permissions),
    limits: z.optional(Limits),
    outputSchema: z.optional(JsonSchema),
  }),
)

export const SessionCreateOptions = named(
  'SessionCreateOptions',
  'What `session/create` takes.',
  z.looseObject({
    ...z.partial(z.looseObject(configShape())).shape,
    sessionId: z.optional(SessionId),
    cwd: field('Absolute path of the working directory; it must exist.', z.string()),
  }),
)

export const Session = named(
  'Session',
  'The whole description of a session.',
  z.looseObject({
    sessionId: SessionId,
    parentId: z.optional(SessionId),
    label: z.optional(z.string()),
    depth: z.int().check(z.minimum(0)),
    title: z.optional(z.string()),
    metadata: Metadata,
    cwd: z.string(),
    roots: z.array(z.string()),
    model: z.string(),
    permissions: Permissions,
    limits: Limits,
    createdAt: UnixMs,
    updatedAt: UnixMs,
    status: AgentStatusName,
    seq: Seq,
    usage: Usage,
  }),
)

export const SubagentListEntry = named(
  'SubagentListEntry',
  'One child session.',
  z.looseObject({
    sessionId: SessionId,
    parentId: SessionId,
    label: z.string(),
    depth: z.int(),
    mode: openEnum('SubagentMode', "Who owns the child's lifecycle.", ['isolated', 'continuable']),
    activity: openEnum('SubagentActivity', 'Residency (AG-6).', ['running', 'inactive']),
    createdAt: UnixMs,
  }),
)

export const Goal = named(
  'Goal',
  'A goal of a session (GO-1).',
  z.looseObject({
    goalId: z.string(),
    revision: z.int(),
    objective: z.string(),
    phase: openEnum('GoalPhase', 'Where a goal stands.', ['active', 'paused', 'blocked', 'complete']),
    reason: z.optional(z.string()),
    rounds: z.int(),
    maxRounds: z.int(),
    tokenBudget: z.optional(z.int()),
    tokensUsed: z.int(),
  }),
)
