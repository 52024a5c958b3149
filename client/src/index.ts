// The public interface of the package.

import { Analyses, Watchlists } from './analyses.ts'
import { type Conversation, Conversations } from './conversations.ts'
import { Exports } from './exports.ts'
import { Http, type Settings } from './http.ts'
import { Imports } from './imports.ts'

export class Bellwether {
  readonly http: Http
  readonly conversations: Conversations
  readonly analyses: Analyses
  readonly watchlists: Watchlists
  readonly exports: Exports
  readonly imports: Imports
  /** Any call of the interface by its method and path, typed by the document. */
  readonly call: Http['call']

  constructor(settings: Settings) {
    this.http = new Http(settings)
    this.conversations = new Conversations(this.http)
    this.analyses = new Analyses(this.http)
    this.watchlists = new Watchlists(this.http)
    this.exports = new Exports(this.http)
    this.imports = new Imports(this.http)
    this.call = this.http.call.bind(this.http) as Http['call']
  }

  /** Short for `conversations.open`. */
  conversation(id: string): Conversation {
    return this.conversations.open(id)
  }
}

export type { HistoryRow, Wishes } from './analyses.ts'
export type * from './api.generated.ts'
export { type ClientAction, Conversation, type Stand } from './conversations.ts'
export { BellwetherError, type Problem, ServiceError, StreamClosed, TimedOut, Unreachable } from './errors.ts'
export type { Event, FollowOptions, Frame } from './events.ts'
export type { ExportStanding } from './exports.ts'
export type { Call, Common, Options, Reply, Settings } from './http.ts'
export type { ImportStanding } from './imports.ts'
export type { StreamOptions, TaskEvent } from './task-stream.ts'
export type { WorkspaceFiles } from './workspace-files.ts'
