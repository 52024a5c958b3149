import { DurableObject } from 'cloudflare:workers'

/** The singleton that keeps the books of the analysis queue. */
export class TaskQueue extends DurableObject<Env> {}
