// Every call of the console uses `request`, which reads the error formats of the service and detects an expired
// session.

import type { ApiDocument } from './reference/document.ts'
import { language, say } from './texts.ts'
import type {
  Accepted,
  AnalyzeRequest,
  ConversationInfo,
  ConversationPage,
  EventPage,
  History,
  Session,
  Setup,
  StockReading,
  TaskInfo,
  TaskList,
  TaskStatus,
  UploadAnswer,
} from './wire.ts'

type Fields = Record<string, unknown>

/** A window event with the seconds until the service accepts requests again. */
export const LIMITED = 'bellwether:limited'

/** A window event after a new sign-in. */
export const SIGNED_IN = 'bellwether:signed-in'

export class ApiError extends Error {
  override readonly name = 'ApiError'
  /** 0 if there was no answer. */
  readonly status: number
  readonly body: Fields

  constructor(message: string, status: number, body: Fields = {}) {
    super(message)
    this.status = status
    this.body = body
  }
}

let onSignedOut: () => void = () => {}

/** Sets what happens when the service no longer accepts the session. */
export function whenSignedOut(listener: () => void): void {
  onSignedOut = listener
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

export const getSession = () => request<Session>('/api/session')
export const signIn = (key: string) => request<Session>('/api/session', sendJson('POST', { key }))
export const signOut = () => request<unknown>('/api/session', { method: 'DELETE' })

export const getSetup = () => request<Setup>('/api/setup')

/** A conversation without a title has a default one from the service, in English. */
const named = (one: ConversationInfo): ConversationInfo => {
  const id = one.conversation_id.slice(0, 5)
  return one.title === `Conversation ${id}` ? { ...one, title: say('Conversation {id}', { id }) } : one
}

export async function listConversations(pageId: string | null): Promise<ConversationPage> {
  const page = pageId === null ? '' : `&page_id=${encodeURIComponent(pageId)}`
  const found = await request<ConversationPage>(`/api/conversations?limit=20${page}`)
  return { ...found, results: found.results.map(named) }
}

/** `choices` are the settings for this conversation only, by their API names; an empty one uses the owner's settings. */
export function startConversation(
  firstMessage: string,
  choices: Readonly<Record<string, string>>,
): Promise<{ conversation_id: string }> {
  const query = new URLSearchParams(Object.entries(choices).filter(([, value]) => value !== ''))
  const body = firstMessage === '' ? {} : { initial_user_msg: firstMessage }
  return request(`/api/conversations${query.size === 0 ? '' : `?${query}`}`, sendJson('POST', body))
}

/** `null` for a conversation that does not exist. */
export async function getConversation(id: string): Promise<ConversationInfo | null> {
  const found = await request<ConversationInfo | null>(conversation(id))
  return found && named(found)
}

export const renameConversation = (id: string, title: string) =>
  request<boolean>(conversation(id), sendJson('PATCH', { title }))
/** Also works from a window that is being closed. */
export const deleteConversation = (id: string) =>
  request<boolean>(conversation(id), { method: 'DELETE', keepalive: true })

/** The newest events up to `endId`, oldest first. */
export async function newestEvents(id: string, endId: number | null): Promise<EventPage> {
  const end = endId === null ? '' : `&end_id=${endId}`
  const page = await request<EventPage>(`${conversation(id)}/events?reverse=true&limit=100${end}`)
  return { events: page.events.toReversed(), has_more: page.has_more }
}

export async function newestStateEvent(id: string) {
  const query = 'reverse=true&limit=1&include_types=agent_state_changed'
  return (await request<EventPage>(`${conversation(id)}/events?${query}`)).events[0]
}

/** `at` is the event for which the earlier state of the files is requested; null for now. */
const filesQuery = (values: Readonly<Record<string, string>>, at: number | null): string =>
  new URLSearchParams({ ...values, ...(at === null ? {} : { at: String(at) }) }).toString()

export const listFiles = (id: string, path: string, at: number | null) =>
  request<string[]>(`${conversation(id)}/list-files?${filesQuery(path === '' ? {} : { path }, at)}`)

export const readFile = (id: string, path: string, at: number | null) =>
  request<{ code: string }>(`${conversation(id)}/select-file?${filesQuery({ file: path }, at)}`)

export const zipAddress = (id: string, at: number | null): string =>
  `${conversation(id)}/zip-directory?${filesQuery({}, at)}`

export function uploadFiles(id: string, files: File[]): Promise<UploadAnswer> {
  const form = new FormData()
  for (const file of files) form.append('files', file, file.name)
  return request(`${conversation(id)}/upload-files`, { method: 'POST', body: form })
}

export const analyze = (body: AnalyzeRequest) => request<Accepted>('/api/v1/analysis/analyze', sendJson('POST', body))
export const readStocks = (body: { entries: string[]; language?: string }) =>
  request<{ items: StockReading[] }>('/api/v1/stocks/readings', sendJson('POST', body))
export const suggestStocks = (typed: string, language: string) =>
  request<{ items: { stock_code: string; stock_name: string; market_label: string }[] }>(
    `/api/v1/stocks/search?${new URLSearchParams({ q: typed, limit: '6', ...(language === '' ? {} : { language }) })}`,
  )
export const listTasks = () => request<TaskList>('/api/v1/analysis/tasks?limit=50')
export const cancelTask = (taskId: string) =>
  request<TaskInfo>(`/api/v1/analysis/tasks/${encodeURIComponent(taskId)}/cancel`, { method: 'POST' })
export const taskStatus = (taskId: string) =>
  request<TaskStatus>(`/api/v1/analysis/status/${encodeURIComponent(taskId)}`)

export const dailyBars = (code: string, sessions: number, language: string) =>
  request<History>(`/api/v1/stocks/${encodeURIComponent(code)}/history?period=daily&days=${sessions}`, {
    headers: { 'Accept-Language': language },
  })

export const reportMarkdown = (taskId: string) =>
  request<{ content: string }>(`/api/v1/history/${encodeURIComponent(taskId)}/markdown`)

export const getApiDocument = () => request<ApiDocument>('/openapi.json')

const conversation = (id: string): string => `/api/conversations/${encodeURIComponent(id)}`

export const sendJson = (method: 'POST' | 'PUT' | 'PATCH', body: unknown): RequestInit => ({
  method,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
})

export async function request<T>(path: string, init: RequestInit = {}): Promise<T> {
  const response = await send(path, init)
  const body = parse(await response.text())
  if (response.ok && body !== undefined) return body as T
  throw refusal(path, response, body)
}

/** A streamed answer; errors are thrown as by `request`. */
export async function requestStream(path: string, init: RequestInit): Promise<Response> {
  const response = await send(path, init)
  if (response.ok) return response
  throw refusal(path, response, parse(await response.text()))
}

function send(path: string, init: RequestInit): Promise<Response> {
  const headers = new Headers(init.headers)
  if (!headers.has('accept-language')) headers.set('accept-language', language)
  return fetch(path, { ...init, headers }).catch(() => {
    throw new ApiError(say('The service cannot be reached. Check the connection and try again.'), 0)
  })
}

function refusal(path: string, response: Response, body: unknown): ApiError {
  if (response.status === 401 && path !== '/api/session') onSignedOut()
  const fields = isFields(body) ? body : {}
  const error = readError(response, fields)
  const wait = Number(response.headers.get('retry-after'))
  if (!isRateLimit(response.status, error.message) || !(wait > 0)) return error
  dispatchEvent(new CustomEvent(LIMITED, { detail: wait }))
  return new ApiError(say('Too many requests.'), response.status, fields)
}

/** Not an exhausted quota, which has its own message and may not recover before the next day. */
const isRateLimit = (status: number, said: string): boolean => status === 429 && /^too many requests\.?$/i.test(said)

/** `undefined` if the text is not JSON; an empty answer counts as `null`. */
function parse(text: string): unknown {
  if (text === '') return null
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Reads `error`, `message`, `detail`, in this order; an `error` that is only a code is replaced by the sentence next to it. */
function readError(response: Response, body: Fields): ApiError {
  const items = Array.isArray(body.detail) ? body.detail.map(describeItem).filter((text) => text !== '') : []
  const texts = [body.error, body.message, body.detail].filter((text) => typeof text === 'string' && text !== '')
  const sentence = texts.find((text) => !isCode(text)) ?? texts[0]
  const requestId = response.headers.get('x-request-id')
  const said = String(
    items.length > 0
      ? items.join('; ')
      : (sentence ?? say(isAway(response) ? AWAY : 'The service answered {status}.', { status: response.status })),
  )
  const isReferred = response.status < 500 || requestId === null || said.includes(requestId)
  return new ApiError(isReferred ? said : `${said} ${say('(request {id})', { id: requestId })}`, response.status, body)
}

/** A proxy in front of the service sends these, without a message of the service. */
const isAway = ({ status }: Response): boolean => status >= 502 && status <= 504
const AWAY = 'The service is not available at the moment ({status}).'

const isCode = (text: unknown): boolean => /^[a-z][a-z0-9_]*$/.test(String(text))

/** One item of a 422: `stock_codes: Input should be a valid list`. */
function describeItem(item: unknown): string {
  if (typeof item === 'string') return item
  if (!isFields(item)) return ''
  const place = Array.isArray(item.loc) ? item.loc.filter((part) => part !== 'body' && part !== 'query').join('.') : ''
  const text = String(item.msg ?? item.message ?? '')
  return place === '' ? text : `${place}: ${text}`
}
