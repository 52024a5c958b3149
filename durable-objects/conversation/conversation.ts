import { DurableObject } from 'cloudflare:workers'

/** One conversation. */
export class Conversation extends DurableObject<Env> {}
