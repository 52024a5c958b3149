// The wire between a runner and the service: one module for both sides. A runner opens two kinds of WebSocket, always
// outwards. On the pool's socket it describes itself and is told which conversation needs it; on a conversation's
// socket it runs calls and keeps a copy of the workspace. Control messages are JSON-RPC 2.0 in text frames, contents
// are in binary frames (`frames.ts`). Everything from a runner is untrusted: sizes, paths and counts are limited here.
// Only the methods below exist; any other is answered with METHOD_NOT_FOUND.

import { z } from 'zod'
import { BROWSER_KIND } from './page.ts'
import { PortClose, PortHead, PortOpen } from './port-wire.ts'
import { TerminalClose, TerminalEnded, TerminalOpen, TerminalSize } from './terminal-wire.ts'

/**
 * A heartbeat of the runner on either socket as a text frame, sent every `HEARTBEAT_MS`. The runtime answers it without
 * waking the object.
 */
export const PING = JSON.stringify({ type: 'ping' })
export const PONG = JSON.stringify({ type: 'pong' })
export const HEARTBEAT_MS = 20_000

/** Must be raised when the change would cause harm on a side that does not know it. */
export const WIRE_VERSION = 1

/** Longest text frame, bytes. */
export const MAX_TEXT_BYTES = 1024 * 1024
/** Longest binary frame, bytes, including its head: each frame is committed in one event. */
export const MAX_FRAME_BYTES = 1024 * 1024
/** Unacknowledged bytes of binary frames, for each transfer and for each call's output. */
export const WINDOW_BYTES = 4 * 1024 * 1024
/** Entries of one transfer: a protection, not a limit of a workspace. */
export const MAX_TRANSFER_ENTRIES = 200_000
/** The most paths in an outcome that name what stays on the runner. */
export const MAX_LEFT = 50
/** A path in the workspace, bytes of UTF-8. */
export const MAX_PATH_BYTES = 4096

/** Codes of JSON-RPC and our own. */
export const RPC_ERRORS = {
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  /** The other side supports no common version; `data.supported` lists its own. */
  wrongVersion: -32001,
  /** No capacity, or draining. */
  full: -32002,
  /** The ticket or key gives no access. */
  refused: -32003,
  /** The tree is not at the revision that the request needs: transfer it first. */
  wrongRevision: -32004,
  /** The workspace or its disk is full, or a file is too large. */
  noRoom: -32005,
} as const

const Name = z.string().min(1).max(100)
/** Long enough for the name of an image with its digest. */
export const LABEL = /^[A-Za-z0-9][A-Za-z0-9._:/=@-]{0,254}$/
export const Label = z.string().regex(LABEL)
/** An id that the runner made once and keeps in its folder. */
export const RunnerId = z.string().regex(/^[0-9a-f]{32}$/)
/** One step of one conversation: the key of its effect. */
export const CallKey = z.string().regex(/^[A-Za-z0-9._-]{1,80}$/)

export const FoundTool = z.object({ name: Name, version: z.string().max(100) })
export type FoundTool = z.infer<typeof FoundTool>

/** What enforces a conversation's limits: the kernel, the runner by periodic checks, or nothing. */
export const LimitsBy = z.object({
  cpu: z.enum(['kernel', 'nice', 'none']),
  memory: z.enum(['kernel', 'watched', 'none']),
  processes: z.enum(['kernel', 'none']),
  disk: z.enum(['watched', 'none']),
})
export type LimitsBy = z.infer<typeof LimitsBy>

/** It is shown in logs, to users and to models. */
const ShownName = Name.refine((name) => !/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(name), 'has characters that cannot be seen')

export const RunnerDescription = z.object({
  id: RunnerId,
  name: ShownName,
  labels: z.array(Label).max(32),
  /** The version of the program. */
  version: z.string().max(40),
  os: z.string().max(40),
  arch: z.string().max(40),
  /** The most conversations at a time. */
  capacity: z.number().int().min(1).max(1000),
  isolation: z.enum(['bwrap', 'sandbox-runtime', 'none']),
  network: z.enum(['none', 'list', 'all']),
  tools: z.array(FoundTool).max(64),
  /** Absent for an older runner. */
  limits: LimitsBy.optional(),
})
export type RunnerDescription = z.infer<typeof RunnerDescription>

// ---- The pool's socket: GET /api/runners/socket -------------------------------------------------------------------------

/** runner → service, the first message. */
export const RunnerHello = z.object({
  wire: z.number().int(),
  runner: RunnerDescription,
  /** A new id for each start of its process. Absent for an older runner. */
  life: z.string().max(64).optional(),
  /** The conversations whose folders it has. */
  holds: z.array(z.string().max(64)).max(10_000),
  /** Its clock, epoch ms: only used to warn the operator if it is wrong. */
  clock: z.number(),
})
export type RunnerHello = z.infer<typeof RunnerHello>
export type RunnerWelcome = { wire: number; now: number }

/** service → runner: open the conversation's socket with this ticket. Answered with {} or `full`. */
export const OpenConversation = z.object({
  conversation: z.string().max(64),
  /** A path of the same host. */
  path: z.string().max(200),
  ticket: z.string().max(200),
})
export type OpenConversation = z.infer<typeof OpenConversation>

/** service → runner: release the conversation; `erase` when it was deleted: its folder is deleted. */
const CloseConversation = z.object({ conversation: z.string().max(64), erase: z.boolean() })
export type CloseConversation = z.infer<typeof CloseConversation>

/**
 * runner → service: it accepts no new conversations and ends when it has none left. Repeated with the remaining number
 * whenever it releases one.
 */
const RunnerDraining = z.object({ conversations: z.number().int().nonnegative().optional() })

// ---- A conversation's socket: GET /api/conversations/{id}/runner --------------------------------------------------------

/** Notebook calls: only for a runner whose tools include `KERNEL_TOOL`. */
export const CELL_KINDS = ['cell', 'interrupt', 'restart'] as const
export const KERNEL_TOOL = 'ipykernel'

/**
 * runner → object, the first message. `tree`: the state of its copy, null when it has none or when it is uncertain.
 * `calls`: those that it has begun and whose end was not acknowledged.
 */
export const SessionHello = z.object({
  wire: z.number().int(),
  runner: RunnerId,
  /** A new id for each start of the runner's process: shells and processes of another life are gone. */
  life: z.string().max(64),
  tree: z.object({ epoch: z.string().max(64), revision: z.number().int().nonnegative() }).nullable(),
  calls: z.array(z.object({ key: CallKey, state: z.enum(['running', 'ended']) })).max(1000),
})
export type SessionHello = z.infer<typeof SessionHello>
/**
 * `stored`: the last upward transfer that is in the tree, and the revision that it made: its answer may have been lost.
 * `exclude`: names of folders and files that are not synced, matched at any depth, unless the object's tree contains
 * them.
 */
export const SessionWelcome = z.object({
  wire: z.number().int(),
  stored: z.object({ transfer: z.number(), revision: z.number() }).nullable(),
  exclude: z.array(z.string()),
  maxFileBytes: z.number(),
  maxWorkspaceBytes: z.number(),
})
export type SessionWelcome = z.infer<typeof SessionWelcome>

/**
 * In both directions: frames of a transfer follow. Down: the object's tree, or the changes since `base`. Up: the
 * changes on the runner since the last transfer in either direction. `base` null means the whole tree: whatever is not
 * named (and not excluded) is deleted.
 */
export const TransferBegin = z.object({
  transfer: z.number().int().nonnegative(),
  epoch: z.string().max(64),
  base: z.number().int().nonnegative().nullable(),
  revision: z.number().int().nonnegative(),
})
export type TransferBegin = z.infer<typeof TransferBegin>

/**
 * All frames have been sent; a file of many pieces is one entry. Down: answered when everything is on the disk. Up: a
 * transfer during a call is answered when it is stored; the last one of a call is not committed by this but by
 * `call/ended`, which names it.
 */
export const TransferCommit = z.object({
  transfer: z.number().int().nonnegative(),
  frames: z.number().int().nonnegative(),
  entries: z.number().int().nonnegative().max(MAX_TRANSFER_ENTRIES),
})
export type TransferCommit = z.infer<typeof TransferCommit>

/** The tree's revision after an upward transfer: the object's answer. `refused`: paths that were not accepted, with reasons. */
export const TransferStored = z.object({
  revision: z.number().int().nonnegative(),
  refused: z.array(z.object({ path: z.string(), reason: z.string() })).max(100),
})
export type TransferStored = z.infer<typeof TransferStored>

/** A notification by the receiver of binary frames: everything up to this number is processed. */
const FrameAck = z.object({ stream: z.string().max(100), seq: z.number().int().nonnegative() })
export type FrameAck = z.infer<typeof FrameAck>

/**
 * object → runner. Answered at once with `CallState`; a key that was started before is never started again. `run`: a
 * script for the session's shell. `input`: text for the running program (`C-c`, `C-d`, `C-z` are keys; other text is
 * typed with a line end). `more`: only wait for more output. `cell`: code for the notebook's kernel; without code only
 * wait for more. `interrupt`: interrupts the running cell. `restart`: a new kernel, then the code if there is any. The
 * output of these three is lines of `CellPiece` (`output.ts`). `browser`: actions of the browser as JSON; its output is
 * lines of `page.ts`.
 */
export const CallStart = z.object({
  key: CallKey,
  kind: z.enum(['run', 'input', 'more', ...CELL_KINDS, BROWSER_KIND]),
  text: z.string().max(512 * 1024),
  /** The folder to start in, if the session has none yet. */
  cwd: z.string().max(MAX_PATH_BYTES),
  /** Exported for this session from now on, never written to disk. */
  env: z.record(z.string().max(200), z.string().max(64 * 1024)),
  /** After this time without output, the call ends with the output so far; the command goes on. */
  quietMs: z.number().int().positive(),
  /** After this time the call ends with the output so far, whether or not the command prints; null for never. */
  softMs: z.number().int().positive().nullable(),
  /** After this time the program in the foreground is killed. */
  hardMs: z.number().int().positive(),
  /** The required revision of the runner's copy, else `wrongRevision`. */
  epoch: z.string().max(64),
  revision: z.number().int().nonnegative(),
})
export type CallStart = z.infer<typeof CallStart>

export const CallOutcome = z.object({
  /** `ended`: the command ended with `exitCode`. `quiet` and `soft`: it is still running. `killed`: at the hard limit.
   * `refused`: no program to give input to, or another command is running; `text` says so. `lost`: the shell's
   * process on the machine failed and the command's end is unknown. */
  state: z.enum(['ended', 'quiet', 'soft', 'killed', 'refused', 'lost']),
  text: z.string().max(2000),
  /** -1 while it is running. */
  exitCode: z.number().int(),
  cwd: z.string().max(MAX_PATH_BYTES),
  user: z.string().max(200),
  host: z.string().max(200),
  /** The path of `python3` or `python` in the session; empty when there is none. */
  interpreter: z.string().max(MAX_PATH_BYTES),
  /** Bytes of output since the call began; the object has all of them when the last frame is acknowledged. */
  outputBytes: z.number().int().nonnegative(),
  /** What was not synced, as text: too large, special files, names that are not valid text. */
  remarks: z.array(z.string().max(500)).max(20),
  /** All paths in its copy that stay on the runner; nothing below a listed folder is listed. */
  left: z.array(z.string().max(500)).max(MAX_LEFT).default([]),
})
export type CallOutcome = z.infer<typeof CallOutcome>

/**
 * runner → object, repeated until it is answered: the outcome is in the runner's journal before it is sent. `transfer`:
 * the upward transfer that belongs to it; null when nothing changed. The object stores both in one write, then answers
 * with `TransferStored`.
 */
export const CallEnded = z.object({
  key: CallKey,
  outcome: CallOutcome,
  transfer: z.number().int().nonnegative().nullable(),
})
export type CallEnded = z.infer<typeof CallEnded>

/** object → runner: asks for the state of the key. */
const CallQuery = z.object({ key: CallKey })
export const CallState = z.object({ state: z.enum(['unknown', 'running', 'ended']) })
export type CallState = z.infer<typeof CallState>

/**
 * object → runner: the user pressed stop. Interrupts, then kills after a grace; the call ends as usual.
 */
const CallStop = z.object({ key: CallKey })

/** runner → object: a request of a git credential helper. Answered with null fields when the owner configured no such host. */
export const CredentialAsk = z.object({
  protocol: z.enum(['https', 'http']),
  host: z.string().max(300),
  path: z.string().max(2000),
})
export type CredentialAsk = z.infer<typeof CredentialAsk>
export const Credential = z.object({ username: z.string().max(1000), password: z.string().max(64 * 1024) })
export type Credential = z.infer<typeof Credential>

/**
 * runner → object: a program wants to connect to a host that is not on the runner's list. The git hosts of the owner's
 * settings are allowed.
 */
export const HostAsk = z.object({ host: z.string().max(300), port: z.number().int().min(1).max(65_535) })
export type HostAsk = z.infer<typeof HostAsk>
export const HostAnswer = z.object({ isAllowed: z.boolean() })

/** object → runner: start a tool server in the sandbox; starting the same name again replaces it. */
export const ServerStart = z.object({
  name: Name,
  command: z.string().min(1).max(4096),
  args: z.array(z.string().max(64 * 1024)).max(200),
  env: z.record(z.string().max(200), z.string().max(64 * 1024)),
})
export type ServerStart = z.infer<typeof ServerStart>
const ServerStop = z.object({ name: Name })
/** A message of a tool server, bytes of UTF-8. */
export const MAX_SERVER_MESSAGE_BYTES = 8 * 1024 * 1024
/** UTF-16 units of one piece of it: as JSON it may be several times as long. */
export const SERVER_PIECE_CHARS = 128 * 1024
/**
 * Both ways, a notification: a message of the Model Context Protocol as text, or a piece of one; `more`: further pieces
 * follow.
 */
export const ServerMessage = z.object({
  name: Name,
  message: z.string().max(SERVER_PIECE_CHARS),
  more: z.boolean().default(false),
})
export type ServerMessage = z.infer<typeof ServerMessage>
/** runner → object, a notification. `stderr`: its last lines. */
export const ServerExited = z.object({
  name: Name,
  code: z.number().int().nullable(),
  signal: z.string().max(40).nullable(),
  stderr: z.string().max(8000),
})
export type ServerExited = z.infer<typeof ServerExited>

/**
 * object → runner: asks for the state of a tool call that the object sent before, in this life of the runner.
 * `answered`: the answer is sent once more. `ended`: the program ended during the call.
 */
export const ServerQuery = z.object({ name: Name, id: z.string().max(200) })
export type ServerQuery = z.infer<typeof ServerQuery>
export const ServerCallState = z.object({
  state: z.enum(['unknown', 'open', 'answered', 'ended']),
  end: ServerExited.nullable(),
})
export type ServerCallState = z.infer<typeof ServerCallState>

type Side = 'runner' | 'service' | 'both'

/** Which side may call which method, and whether it is answered. */
export const METHODS = {
  'runner/hello': { from: 'runner', params: RunnerHello, answered: true },
  'runner/draining': { from: 'runner', params: RunnerDraining, answered: false },
  'conversation/open': { from: 'service', params: OpenConversation, answered: true },
  'conversation/close': { from: 'service', params: CloseConversation, answered: true },
  'session/hello': { from: 'runner', params: SessionHello, answered: true },
  'transfer/begin': { from: 'both', params: TransferBegin, answered: true },
  'transfer/commit': { from: 'both', params: TransferCommit, answered: true },
  'frame/ack': { from: 'both', params: FrameAck, answered: false },
  'call/start': { from: 'service', params: CallStart, answered: true },
  'call/query': { from: 'service', params: CallQuery, answered: true },
  'call/stop': { from: 'service', params: CallStop, answered: true },
  'call/ended': { from: 'runner', params: CallEnded, answered: true },
  'credential/ask': { from: 'runner', params: CredentialAsk, answered: true },
  'host/ask': { from: 'runner', params: HostAsk, answered: true },
  'server/start': { from: 'service', params: ServerStart, answered: true },
  'server/stop': { from: 'service', params: ServerStop, answered: true },
  'server/query': { from: 'service', params: ServerQuery, answered: true },
  'server/message': { from: 'both', params: ServerMessage, answered: false },
  'server/exited': { from: 'runner', params: ServerExited, answered: false },
  'port/list': { from: 'service', params: z.object({}), answered: true },
  'port/open': { from: 'service', params: PortOpen, answered: false },
  'port/head': { from: 'runner', params: PortHead, answered: false },
  'port/close': { from: 'both', params: PortClose, answered: false },
  'terminal/open': { from: 'service', params: TerminalOpen, answered: true },
  'terminal/resize': { from: 'service', params: TerminalSize, answered: false },
  'terminal/close': { from: 'service', params: TerminalClose, answered: false },
  'terminal/ended': { from: 'runner', params: TerminalEnded, answered: false },
} as const satisfies Readonly<Record<string, { from: Side; params: z.ZodType; answered: boolean }>>
export type Method = keyof typeof METHODS
export type ParamsOf<M extends Method> = z.infer<(typeof METHODS)[M]['params']>
