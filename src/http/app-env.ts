// What every handler has at hand besides its request.

import type { Principal } from './principal.ts'

export type AppEnv = {
  Bindings: Env
  Variables: {
    requestId: string
    /** Answers with text that is JSON already. */
    jsonText(text: string): Response
    /** Who asks; absent only on the calls that need no key. */
    principal: Principal
    /** Whether the conversation of the path is certainly none; set below `/api/conversations/{conversation_id}`. */
    isUnusedId: boolean | undefined
    /** The conversation that is worked on, where the path does not name it. */
    conversationId?: string
  }
}
