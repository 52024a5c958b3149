// What tests, scripts and the scripted model server say to each other. Nothing here needs Node.

declare module 'vitest' {
  interface ProvidedContext {
    /** `http://127.0.0.1:<port>` */
    modelServer: string
  }
}

export interface ScriptedCall {
  id?: string
  name: string
  /** Text is sent as it is, broken or not. */
  arguments: string | Record<string, unknown>
}

export interface ScriptedUsage {
  prompt?: number
  completion?: number
  cacheRead?: number
  cacheWrite?: number
  /** In US dollars, for servers that tell it. */
  cost?: number
}

export interface ScriptedReply {
  text?: string
  reasoning?: string
  calls?: ScriptedCall[]
  usage?: ScriptedUsage
  /** As the chat dialect names it; made from the calls otherwise. */
  finish?: string | null
  /** Of the text and of the arguments, a piece. */
  chunkChars?: number
  headersDelayMs?: number
  firstDelayMs?: number
  chunkDelayMs?: number
  /** After so many frames it waits until the script is released, or for ever. */
  heldAfter?: number
  /** Instead of an answer; a text body is sent as it is. */
  status?: number
  headers?: Record<string, string>
  body?: unknown
  /** Frames as they are, instead of those that the answer would make. */
  frames?: string[]
  /** Never answers: before its head, or after it. */
  hang?: 'head' | 'body'
  /** After so many frames the stream falls silent, is torn off, ends, or ends in the middle of the next frame. */
  breakAfter?: number
  breakHow?: 'hang' | 'reset' | 'end' | 'half'
}

export interface Script {
  replies: ScriptedReply[]
  /**
   * `queue`: each request takes the next one. `history`: the request takes the one that stands at the number of answers
   * it already holds, so that a question asked again is answered the same.
   */
  by?: 'queue' | 'history'
  /** When the script is at its end: the last reply again, or a refusal. */
  atEnd?: 'repeat' | 'refuse'
  models?: string[]
  /** What the question for a title is answered with, beside the queue and unrecorded; empty otherwise. */
  title?: string
}

export interface RecordedRequest {
  method: string
  /** Behind the name of the script. */
  path: string
  headers: Record<string, string>
  body: unknown
  /** The client went away before the answer was complete. */
  isAbandoned: boolean
}
