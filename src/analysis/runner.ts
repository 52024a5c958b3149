import { WorkerEntrypoint } from 'cloudflare:workers'

/** Runs analyses outside the queue's object, in whatever isolate is free. */
export class AnalysisRunner extends WorkerEntrypoint<Env> {}
