import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { config } from '../../config.ts'
import { bounded } from '../../http/body.ts'
import { AppError, errorEnvelope } from '../../http/errors.ts'
import { endpoint } from '../../http/openapi.ts'
import { type AppEnv, router } from '../../http/router.ts'
import { invalid, valueError } from '../../http/validation.ts'
import { workspacePath } from '../../workspace/paths.ts'
import { found, notFound, ownConversation } from './access.ts'
import { ConversationPath } from './schemas.ts'

const app = router(errorEnvelope)
const tag = 'Workspace'

/** A call to an object carries at most 32 MiB. */
const MAX_CALL_BYTES = 28 * 1024 * 1024

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
    tag,
    summary: 'List one level of the workspace',
    params: ConversationPath,
    query: z.object({ path: z.string().nullable().optional() }),
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
    tag,
    summary: 'Read a text file of the workspace',
    params: ConversationPath,
    query: z.object({ file: z.string() }),
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
    tag,
    summary: 'Download the workspace as a ZIP archive',
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
    tag,
    summary: 'Put files into the workspace',
    params: ConversationPath,
    rawBody: { contentType: 'multipart/form-data', schema: BodyUploadFiles },
    replies: {
      200: { description: 'What was stored where, and what was not and why', schema: POSTUploadFilesModel },
      404: { description: 'No such conversation' },
    },
  },
  async (c, { params }) => {
    const files = await readFiles(c)
    const stub = ownConversation(c, params.conversation_id)
    const report: UploadReport = { uploaded_files: [], skipped_files: [] }
    for (const batch of await batches(files)) {
      const { uploaded_files, skipped_files } = found(await stub.storeUploads(batch), params.conversation_id)
      report.uploaded_files.push(...uploaded_files)
      report.skipped_files.push(...skipped_files)
    }
    return c.json(report)
  },
)

async function readFiles(c: Context<AppEnv>): Promise<File[]> {
  const form = await readForm(c)
  const given = form.getAll('files')
  if (given.length === 0) {
    throw invalid([{ type: 'missing', loc: ['body', 'files'], msg: 'Field required', input: null }])
  }
  return given.map((value, i) => {
    if (typeof value === 'string') throw valueError(['body', 'files', i], 'Expected a file, received a text', value)
    return value
  })
}

async function readForm(c: Context<AppEnv>): Promise<FormData> {
  const type = c.req.header('content-type') ?? ''
  if (!/^multipart\/form-data\b/i.test(type) || c.req.raw.body === null) {
    throw invalid([{ type: 'missing', loc: ['body', 'files'], msg: 'Field required', input: null }])
  }
  const body = bounded(c.req.raw, config(c.env).maxUploadBytes)
  try {
    return await new Response(body, { headers: { 'content-type': type } }).formData()
  } catch (error) {
    if (error instanceof AppError) throw error
    throw valueError(['body'], 'not a readable multipart form', null)
  }
}

/** Groups of files that fit into one call each; a file too large for any call still travels alone and is judged there. */
async function batches(files: File[]): Promise<{ name: string; bytes: Uint8Array }[][]> {
  const groups: { name: string; bytes: Uint8Array }[][] = []
  let room = 0
  for (const file of files) {
    if (file.size > room || groups.length === 0) {
      groups.push([])
      room = MAX_CALL_BYTES
    }
    room -= file.size
    groups.at(-1)?.push({ name: file.name, bytes: new Uint8Array(await file.arrayBuffer()) })
  }
  return groups
}

export { app as files }
