import { env } from 'cloudflare:workers'

export type BucketCall =
  | 'put'
  | 'get'
  | 'head'
  | 'delete'
  | 'createMultipartUpload'
  | 'uploadPart'
  | 'complete'
  | 'abort'

/** Whether a call fails before it has had its effect, or after, or is never answered; null: it does not. */
export type Verdict = 'before' | 'after' | 'never' | null

const FAULTY: ReadonlySet<string> = new Set<BucketCall>([
  'put',
  'get',
  'head',
  'delete',
  'createMultipartUpload',
  'uploadPart',
  'complete',
  'abort',
])

/** The bucket, failing as the script says, and what was asked of it. */
export function faultyBucket(script: (call: BucketCall) => Verdict): { bucket: R2Bucket; calls: BucketCall[] } {
  const calls: BucketCall[] = []
  const around = <T extends object>(real: T): T =>
    new Proxy(real, {
      get: (target, name) => {
        const value = Reflect.get(target, name)
        if (typeof value !== 'function') return value
        if (!FAULTY.has(String(name))) return value.bind(target)
        return async (...args: unknown[]) => {
          const call = String(name) as BucketCall
          calls.push(call)
          const verdict = script(call)
          if (verdict === 'before') throw new Error(`R2 refused ${call}`)
          if (verdict === 'never') return new Promise(() => undefined)
          const result = await value.apply(target, args)
          if (verdict === 'after') throw new Error(`R2 went silent after ${call}`)
          return call === 'createMultipartUpload' ? around(result) : result
        }
      },
    })
  return { bucket: around(env.FILES), calls }
}

/** Fails the first so many calls of these kinds. */
export function failing(times: number, kinds: readonly BucketCall[], how: 'before' | 'after') {
  let left = times
  return (call: BucketCall): Verdict => (kinds.includes(call) && left-- > 0 ? how : null)
}
