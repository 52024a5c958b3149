// Messages between tests, scripts and the scripted model server. Nothing here needs Node.

declare module 'vitest' {
  interface ProvidedContext {
    /** `http://127.0.0.1:<port>` */
    modelServer: string
  }
}

export interface ScriptedCall {
  id?: string
  name: string
  /** Text is sent unchanged, even if it is not valid JSON. */
  arguments: string | Record<string, unknown>
}

export interface ScriptedUsage {
  prompt?: number
  completion?: number
  cacheRead?: number
  cacheWrite?: number
  /** In US dollars, for servers that report the cost. */
  cost?: number
}

export interface ScriptedReply {
  text?: string
  reasoning?: string
  calls?: ScriptedCall[]
  usage?: ScriptedUsage
  /** In the chat completions format; by default derived from the calls. */
  finish?: string | null
  /** Characters per piece of the text and of the arguments. */
  chunkChars?: number
  headersDelayMs?: number
  firstDelayMs?: number
  chunkDelayMs?: number
  /** Waits after this number of frames until the script is released, or forever. */
  heldAfter?: number
  /** A plain response instead of an answer; a string body is sent unchanged. */
  status?: number
  headers?: Record<string, string>
  body?: unknown
  /** Raw frames instead of those of the answer. */
  frames?: string[]
  /** Never answers: before its head, or after it. */
  hang?: 'head' | 'body'
  /** After this number of frames the stream stalls, is reset, ends, or ends in the middle of the next frame. */
  breakAfter?: number
  breakHow?: 'hang' | 'reset' | 'end' | 'half'
}

export interface Script {
  replies: ScriptedReply[]
  /**
   * `queue`: each request takes the next reply. `history`: the index is the number of answers that the request
   * already contains, so that a repeated request gets the same reply.
   */
  by?: 'queue' | 'history'
  /** After the last reply: repeat it, or refuse. */
  atEnd?: 'repeat' | 'refuse'
  models?: string[]
  /** The reply to requests for a title, outside the queue and not recorded; default: empty. */
  title?: string
}

export interface RecordedRequest {
  method: string
  /** The path after the name of the script. */
  path: string
  headers: Record<string, string>
  body: unknown
  /** The client disconnected before the answer was complete. */
  isAbandoned: boolean
}
