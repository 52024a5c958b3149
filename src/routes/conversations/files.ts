import { z } from '@hono/zod-openapi'
import { config } from '../../config.ts'
import { neverCame, tooLarge } from '../../http/body.ts'
import { AppError, errorEnvelope } from '../../http/errors.ts'
import { endpoint } from '../../http/openapi.ts'
import { router } from '../../http/router.ts'
import { invalid, laxBool, valueError } from '../../http/validation.ts'
import { workspacePath } from '../../workspace/paths.ts'
import type { FormProblem } from '../../workspace/upload-form.ts'
import { found, notFound, ownConversation } from './access.ts'
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
    query: z.object({ path: z.string().nullable().optional() }),
    example: { reply: ['src/', 'README.md'] },
    replies: {
      200: { description: 'Folders first, each with a trailing slash', schema: z.array(z.string()) },
      404: { description: 'No such conversation, or its first set-up is not done' },
      500: { description: 'The listing failed' },
    },
  },
  async (c, { params, query }) => {
    const place = workspacePath(query.path ?? '')
    if (!place.ok) throw valueError(['query', 'path'], place.message, query.path)
    const answer = await ownConversation(c, params.conversation_id).listFiles(query.path || null)
    if (answer === 'not-ready') throw new AppError('not_found', 'Runtime not yet initialized')
    return c.json(found(answer, params.conversation_id))
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
    query: z.object({ file: z.string() }),
    example: { reply: { code: 'export const answer = 42\n' } },
    replies: {
      200: { description: 'Its text', schema: z.record(z.string(), z.string()) },
      404: { description: 'No such conversation' },
      415: { description: 'Not a text file' },
      500: { description: 'The file cannot be opened' },
    },
  },
  async (c, { params, query }) => {
    const answer = await ownConversation(c, params.conversation_id).readTextFile(query.file)
    const file = found(answer, params.conversation_id)
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
    replies: {
      200: {
        description: 'The archive',
        schema: z.string().openapi({ format: 'binary' }),
        contentType: 'application/zip',
      },
      404: { description: 'No such conversation' },
      500: { description: 'The archive could not be begun' },
    },
  },
  async (c, { params }) => {
    const { signal } = c.req.raw
    const answer = await ownConversation(c, params.conversation_id).fetch('http://conversation/zip', { signal })
    if (answer.status === 404) throw notFound(params.conversation_id)
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
    // What came counts from the answer on.
    await stub.storageFull()
    if ('report' in outcome) return c.json(outcome.report)
    throw refusal(outcome, config(c.env).maxUploadBytes)
  },
)

function refusal(found: FormProblem, maxBytes: number): AppError {
  if (found.problem === 'too-large') return tooLarge(maxBytes)
  if (found.problem === 'never-came') return neverCame()
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
