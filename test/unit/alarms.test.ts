import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, onTestFinished, test, vi } from 'vitest'
import { Alarms } from '../../durable-objects/alarms.ts'
import { ALARMS_SCHEMA } from '../../durable-objects/common-tables.ts'

type Name = 'slow' | 'quick' | 'other'

function withAlarms<T>(
  run: (alarms: Alarms<Name>, storage: DurableObjectStorage) => Promise<T>,
  options: { firingMs?: number } = {},
): Promise<T> {
  const stub = env.CONVERSATION.get(env.CONVERSATION.newUniqueId())
  return runInDurableObject(stub, async (_, { storage }) => {
    storage.sql.exec(ALARMS_SCHEMA)
    const result = await run(new Alarms<Name>(storage, options), storage)
    await storage.deleteAlarm()
    return result
  })
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

test('while one handler takes its time, those that come due are run beside it', async () => {
  await withAlarms(async (alarms) => {
    const log: string[] = []
    alarms.at('slow', 0)
    alarms.at('quick', Date.now() + 20)
    const logged = (what: string) => expect.poll(() => log).toContain(what)
    await alarms.fire(Date.now(), async (name) => {
      log.push(`${name} begins`)
      if (name === 'slow') {
        await logged('quick ends')
        alarms.at('other', 0)
        await logged('other ends')
      }
      log.push(`${name} ends`)
    })
    expect(log).toEqual(['slow begins', 'quick begins', 'quick ends', 'other begins', 'other ends', 'slow ends'])
    expect([alarms.get('slow'), alarms.get('quick'), alarms.get('other')]).toEqual([null, null, null])
  })
})

test('a handler that sets its own alarm again is called again, and no other time is lost', async () => {
  await withAlarms(async (alarms) => {
    let calls = 0
    alarms.at('quick', 0)
    // A time within the same millisecond is put off by one, and may need the runtime to call again.
    while (alarms.get('quick') !== null) {
      await alarms.fire(Date.now(), async (name) => {
        calls += 1
        if (calls < 3) alarms.atLatest(name, Date.now())
      })
      await pause(2)
    }
    expect(calls).toBe(3)
    const later = Date.now() + 60_000
    alarms.at('quick', 0)
    await alarms.fire(Date.now(), async (name) => alarms.at(name, later))
    expect(alarms.get('quick')).toBe(later)
  })
})

test('a handler that fails keeps its alarm, the others are run, and the failure reaches the runtime', async () => {
  await withAlarms(async (alarms, storage) => {
    const run: Name[] = []
    alarms.at('slow', 1)
    alarms.at('quick', 2)
    const fire = alarms.fire(Date.now(), async (name) => {
      run.push(name)
      if (name === 'slow') throw new Error('no luck')
    })
    await expect(fire).rejects.toThrow('no luck')
    expect(run).toEqual(['slow', 'quick'])
    // What another instance finds after a crash.
    expect(new Alarms<Name>(storage).get('slow')).toBe(1)
    await alarms.fire(Date.now(), async (name) => void run.push(name))
    expect(run).toEqual(['slow', 'quick', 'slow'])
  })
})

test('an alarm of a crash in the middle is still there, and the runtime is armed for it', async () => {
  await withAlarms(async (alarms, storage) => {
    alarms.at('slow', 1)
    const begun = Promise.withResolvers<void>()
    const end = Promise.withResolvers<void>()
    const fired = alarms.fire(Date.now(), () => {
      begun.resolve()
      return end.promise
    })
    await begun.promise
    await storage.deleteAlarm()
    expect(new Alarms<Name>(storage).get('slow')).toBe(1)
    expect(await storage.getAlarm()).not.toBeNull()
    end.resolve()
    await fired
  })
})

test('a healthy long turn is never ended by the clock: what outlasts one firing goes on in the next, once', async () => {
  await withAlarms(
    async (alarms, storage) => {
      const log: string[] = []
      const end = Promise.withResolvers<void>()
      const run = async (name: Name) => {
        log.push(`${name} begins`)
        if (name === 'slow') await end.promise
        else end.resolve()
        log.push(`${name} ends`)
      }
      alarms.at('slow', 1)
      for (let firing = 0; firing < 3; firing++) {
        await alarms.fire(Date.now(), run)
        expect(await storage.getAlarm()).not.toBeNull()
      }
      alarms.at('quick', 0)
      await alarms.fire(Date.now(), run)
      expect(log).toEqual(['slow begins', 'quick begins', 'quick ends', 'slow ends'])
      expect([alarms.get('slow'), alarms.get('quick')]).toEqual([null, null])
    },
    { firingMs: 25 },
  )
})

test('what fails after the firing that began it is told to the runtime by the next one, and not begun by itself', async () => {
  await withAlarms(
    async (alarms) => {
      let calls = 0
      let fail = () => {}
      const run = () => {
        calls += 1
        return new Promise<void>((_, reject) => {
          fail = () => reject(new Error('no luck'))
        })
      }
      alarms.at('slow', 1)
      await alarms.fire(Date.now(), run)
      fail()
      await pause(2)
      await expect(alarms.fire(Date.now(), run)).rejects.toThrow('no luck')
      expect([calls, alarms.get('slow')]).toEqual([1, 1])
    },
    { firingMs: 10 },
  )
})

test('an alarm that is called twice at a time runs each handler once, and both calls end', async () => {
  await withAlarms(async (alarms) => {
    const log: string[] = []
    alarms.at('slow', 0)
    const fire = () =>
      alarms.fire(Date.now(), async (name) => {
        log.push(name)
        await pause(20)
        if (name === 'slow') alarms.at('quick', 0)
        await pause(20)
      })
    await Promise.all([fire(), fire(), fire()])
    expect(log).toEqual(['slow', 'quick'])
  })
})

test('a firing that is over leaves no timer behind, which would keep the object awake', async () => {
  const [set, clear] = [vi.spyOn(globalThis, 'setTimeout'), vi.spyOn(globalThis, 'clearTimeout')]
  onTestFinished(() => {
    set.mockRestore()
    clear.mockRestore()
  })
  await withAlarms(
    async (alarms) => {
      alarms.at('quick', 0)
      await alarms.fire(Date.now(), async () => {})
    },
    { firingMs: 3_000_000 },
  )
  const long = set.mock.results.filter((_, i) => Number(set.mock.calls[i]?.[1]) > 2_000_000).map(({ value }) => value)
  const cleared = clear.mock.calls.map(([timer]) => timer)
  expect(long).toHaveLength(1)
  expect(long.filter((timer) => !cleared.includes(timer))).toEqual([])
})
