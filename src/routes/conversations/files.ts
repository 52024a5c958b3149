import { z } from '@hono/zod-openapi'
import { config } from '../../config.ts'
import { neverCame, tooLarge } from '../../http/body.ts'
import { AppError, errorEnvelope } from '../../http/errors.ts'
import { endpoint } from '../../http/openapi.ts'
import { router } from '../../http/router.ts'
import { invalid, valueError } from '../../http/validation.ts'
import { laxBool, laxInt } from '../../lib/lax.ts'
import { workspacePath } from '../../workspace/paths.ts'
import { FORM_IDLE_MS, type FormProblem } from '../../workspace/upload-form.ts'
import { foundOr404, notFound, ownConversation } from './access.ts'
import { storageFull } from './room-for.ts'
import { ConversationPath } from './schemas.ts'

const app = router(errorEnvelope)
const tag = 'Workspace'

const BodyUploadFiles = z
  .object({ files: z.array(z.string().openapi({ format: 'binary' })) })
  .openapi('Body_upload_files')

const POSTUploadFilesModel = z
  .object({
    uploaded_files: z.array(z.string()),
    skipped_files: z.array(z.object({ name: z.string(), reason: z.string() })),
  })
  .openapi('POSTUploadFilesModel')
type UploadReport = z.infer<typeof POSTUploadFilesModel>

const at = laxInt({ min: 0 })
  .optional()
  .describe('An event: the files as they were when it was the newest. Without it, as they are now')

const unknownMoment = {
  400: { description: '`at` is no event of the conversation, or its files are no longer known' },
}

type Moment = { reason: 'unknown-event' } | { reason: 'too-old'; from: number }

const isMoment = (answer: object): answer is Moment =>
  'reason' in answer && (answer.reason === 'unknown-event' || answer.reason === 'too-old')

const noSuchMoment = (moment: Moment, event: number | undefined): AppError =>
  new AppError(
    'bad_request',
    moment.reason === 'unknown-event'
      ? `There is no event ${event} in this conversation`
      : `The files at event ${event} are no longer known; they are from event ${moment.from} on`,
  )

endpoint(
  app,
  {
    method: 'get',
    path: '/api/conversations/{conversation_id}/list-files',
    scope: 'conversations',
    limit: 'reads',
    bodyLimit: 'standard',
    tag,
    summary: 'List one level of the workspace',
    params: ConversationPath,
    query: z.object({ path: z.string().nullable().optional(), at }),
    example: { reply: ['src/', 'README.md'] },
    replies: {
      200: { description: 'Folders first, each with a trailing slash', schema: z.array(z.string()) },
      ...unknownMoment,
      404: { description: 'No such conversation, or its first set-up is not done' },
      500: { description: 'The listing failed' },
    },
  },
  async (c, { params, query }) => {
    const place = workspacePath(query.path ?? '')
    if (!place.ok) throw valueError(['query', 'path'], place.message, query.path)
    const answer = await ownConversation(c, params.conversation_id).listFiles(query.path || null, query.at ?? null)
    if (answer === 'not-ready') throw new AppError('not_found', 'Runtime not yet initialized')
    const names = foundOr404(answer, params.conversation_id)
    if ('reason' in names) throw noSuchMoment(names, query.at)
    return c.json(names)
  },
)

endpoint(
  app,
  {
    method: 'get',
    path: '/api/conversations/{conversation_id}/select-file',
    scope: 'conversations',
    limit: 'reads',
    bodyLimit: 'standard',
    tag,
    summary: 'Read a text file of the workspace',
    params: ConversationPath,
    query: z.object({ file: z.string(), at }),
    example: { reply: { code: 'export const answer = 42\n' } },
    replies: {
      200: { description: 'Its text', schema: z.record(z.string(), z.string()) },
      ...unknownMoment,
      404: { description: 'No such conversation' },
      415: { description: 'Not a text file' },
      500: { description: 'The file cannot be opened' },
    },
  },
  async (c, { params, query }) => {
    const answer = await ownConversation(c, params.conversation_id).readTextFile(query.file, query.at ?? null)
    const file = foundOr404(answer, params.conversation_id)
    if (isMoment(file)) throw noSuchMoment(file, query.at)
    if (file.ok) return c.json({ code: file.text })
    if (file.reason === 'outside') throw valueError(['query', 'file'], file.message, query.file)
    if (file.reason === 'binary') {
      throw new AppError('unsupported_media_type', `Unable to open binary file: ${file.path}`)
    }
    throw new AppError('declared_failure', `Error opening file: ${file.message}`)
  },
)

endpoint(
  app,
  {
    method: 'get',
    path: '/api/conversations/{conversation_id}/zip-directory',
    scope: 'conversations',
    limit: 'reads',
    bodyLimit: 'standard',
    tag,
    summary: 'Download the workspace as a ZIP archive',
    example: { reply: 'PK…' },
    params: ConversationPath,
    query: z.object({ at }),
    replies: {
      200: {
        description: 'The archive',
        schema: z.string().openapi({ format: 'binary' }),
        contentType: 'application/zip',
      },
      ...unknownMoment,
      404: { description: 'No such conversation' },
      500: { description: 'The archive could not be begun' },
    },
  },
  async (c, { params, query }) => {
    const { signal } = c.req.raw
    const moment = query.at === undefined ? '' : `?at=${query.at}`
    const answer = await ownConversation(c, params.conversation_id).fetch(`http://conversation/zip${moment}`, {
      signal,
    })
    if (answer.status === 404) throw notFound(params.conversation_id)
    if (answer.status === 400) throw noSuchMoment(await answer.json<Moment>(), query.at)
    if (!answer.ok) throw new AppError('declared_failure', 'Error zipping workspace: the workspace could not be read')
    const headers = {
      'content-type': 'application/zip',
      'content-disposition': 'attachment; filename="workspace.zip"',
    }
    return new Response(answer.body, { headers })
  },
)

endpoint(
  app,
  {
    method: 'post',
    path: '/api/conversations/{conversation_id}/upload-files',
    scope: 'conversations',
    limit: 'uploads',
    bodyLimit: 'upload',
    tag,
    summary: 'Put files into the workspace',
    example: { body: { files: ['the bytes of notes.txt'] } },
    params: ConversationPath,
    query: z.object({
      unpack: laxBool()
        .nullable()
        .optional()
        .openapi({ description: 'Whether what is in a ZIP is stored in place of the ZIP itself' }),
    }),
    rawBody: { contentType: 'multipart/form-data', schema: BodyUploadFiles },
    replies: {
      200: { description: 'What was stored where, and what was not and why', schema: POSTUploadFilesModel },
      404: { description: 'No such conversation' },
      413: { description: 'The form is too large' },
      429: { description: 'The owner stores as much as may be' },
    },
  },
  async (c, { params, query }) => {
    const { body } = c.req.raw
    const contentType = c.req.header('content-type') ?? ''
    if (body === null || !/^multipart\/form-data\b/i.test(contentType)) throw noFiles()
    const stub = ownConversation(c, params.conversation_id)
    const full = await stub.storageFull()
    if (full !== null) throw storageFull({ limit: 'stored_bytes', ...full })
    const answer = await stub.fetch(`http://conversation/files?unpack=${query.unpack ?? false}`, {
      method: 'POST',
      headers: { 'content-type': contentType },
      body,
    })
    if (answer.status === 404) throw notFound(params.conversation_id)
    const outcome = await answer.json<{ report: UploadReport } | FormProblem>()
    // The received bytes count as used from now on.
    await stub.storageFull()
    if ('report' in outcome) return c.json(outcome.report)
    throw refusal(outcome, config(c.env).maxUploadBytes)
  },
)

function refusal(found: FormProblem, maxBytes: number): AppError {
  if (found.problem === 'too-large') return tooLarge(maxBytes)
  if (found.problem === 'never-came') return neverCame(FORM_IDLE_MS)
  if (found.problem === 'no-files') return noFiles()
  if (found.problem === 'text') {
    return valueError(['body', 'files', found.index], 'Expected a file, received a text', found.text)
  }
  const reason = found.problem === 'unreadable' ? 'not a readable multipart form' : 'the form has too many parts'
  return valueError(['body'], reason, null)
}

const noFiles = (): AppError =>
  invalid([{ type: 'missing', loc: ['body', 'files'], msg: 'Field required', input: null }])

export { app as files }
