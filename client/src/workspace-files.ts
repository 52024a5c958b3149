import type { POSTUploadFilesModel } from './api.generated.ts'
import type { Http } from './http.ts'

const ONE = '/api/conversations/{conversation_id}'

/** The files of a conversation's workspace. */
export class WorkspaceFiles {
  readonly #http: Http
  readonly #path: { conversation_id: string }

  constructor(http: Http, id: string) {
    this.#http = http
    this.#path = { conversation_id: id }
  }

  /** One level of the workspace; folders end in a slash. `at`: the state at that event. */
  list(path = '', at?: number): Promise<string[]> {
    return this.#http.call(`GET ${ONE}/list-files`, {
      path: this.#path,
      query: { path: path || null, ...(at === undefined ? {} : { at }) },
    })
  }

  /** A text file. */
  async read(file: string, at?: number): Promise<string> {
    const answer = await this.#http.call(`GET ${ONE}/select-file`, {
      path: this.#path,
      query: { file, ...(at === undefined ? {} : { at }) },
    })
    return answer.code ?? ''
  }

  /**
   * Stores files in the root of the workspace, each under its name. With `unpack` the contents of a ZIP are stored,
   * including folders.
   */
  upload(
    files: Record<string, Blob | Uint8Array | string>,
    options: { unpack?: boolean } = {},
  ): Promise<POSTUploadFilesModel> {
    const body = new FormData()
    for (const [path, content] of Object.entries(files)) {
      body.append('files', content instanceof Blob ? content : new Blob([content as string]), path)
    }
    return this.#http.call(`POST ${ONE}/upload-files`, { path: this.#path, query: options, body, timeoutMs: 600_000 })
  }

  /** The whole workspace as a ZIP. */
  zip(at?: number): Promise<Uint8Array> {
    const query = at === undefined ? {} : { at }
    return this.#http.call(`GET ${ONE}/zip-directory`, { path: this.#path, query, timeoutMs: 600_000 })
  }
}
