// The list of models that a server of the OpenAI kind gives at `GET <address>/models`:
// https://platform.openai.com/docs/api-reference/models/list.

import { z } from 'zod'
import { type AddressPolicy, typedByPerson } from '../lib/address-policy.ts'
import { DoorError, guardedFetch } from '../lib/guarded-fetch.ts'
import type { ModelFailure } from './model.ts'

const LIST_BYTES = 2_000_000
const MOST_MODELS = 1_000
const LONGEST_NAME = 300
const Listed = z.object({ data: z.array(z.object({ id: z.string() })) })

type Asked = { address: string; key: string | null; policy: AddressPolicy; timeoutMs: number }

/** The names in the order of the list, or the kind of the failure. A redirect is not followed: the key would go along. */
export async function listedModels({ address, key, policy, timeoutMs }: Asked): Promise<string[] | ModelFailure> {
  const base = address.replace(/\/+$/, '')
  const limits = { maxBytes: LIST_BYTES, headersTimeoutMs: timeoutMs, totalTimeoutMs: timeoutMs }
  const headers = key === null ? {} : { authorization: `Bearer ${key}` }
  try {
    const door = { policy, chosenBy: typedByPerson(base), showsRedirects: true, limits }
    const response = await guardedFetch(`${base}/models`, { headers }, door)
    if (!response.ok) {
      await response.body?.cancel()
      return failureOf(response.status)
    }
    const read = Listed.safeParse(JSON.parse(await response.text()))
    return read.success ? namesOf(read.data) : 'unusable_reply'
  } catch (error) {
    if (error instanceof SyntaxError) return 'unusable_reply'
    if (!(error instanceof DoorError)) throw error
    return error.reason === 'timeout' ? 'timeout' : 'unavailable'
  }
}

const namesOf = ({ data }: z.infer<typeof Listed>): string[] =>
  data.map(({ id }) => id.slice(0, LONGEST_NAME)).slice(0, MOST_MODELS)

function failureOf(status: number): ModelFailure {
  if (status === 401 || status === 403) return 'authentication'
  return status === 429 ? 'rate_limit' : 'unavailable'
}
