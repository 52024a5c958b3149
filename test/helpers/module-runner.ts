// Replaces `import()` in tests. The test runner requests a module's description at every call, and concurrent callers
// wait for one shared response, which belongs to the request of the first caller. When that request is cancelled, as happens with runs,
// alarms and evicted objects here, all later callers wait forever or get an error. So an already evaluated module is
// returned directly; setup.ts evaluates all of them in advance.

type ModuleNode = { readonly evaluated: boolean }

type ModuleRunner = {
  readonly evaluatedModules: { getModuleByUrl(url: string): ModuleNode | undefined }
  cachedModule(url: string, importer?: string): Promise<ModuleNode>
}

type Resolve = (id: string, importer?: string, environment?: string) => Promise<unknown>

/** Vitest's state of a run: `rpc` calls its main process. */
type RunState = { rpc: { readonly resolve: Resolve } }

declare const __vitest_worker__: RunState & {
  readonly providedContext: { readonly cloudflarePoolOptions: string }
}

declare const __vitest_mocker__: { readonly moduleRunner: ModuleRunner }

export function keepEvaluatedModules(): void {
  const runner = __vitest_mocker__.moduleRunner
  const { cachedModule } = Object.getPrototypeOf(runner) as ModuleRunner
  runner.cachedModule = async (url, importer) => {
    const known = runner.evaluatedModules.getModuleByUrl(url)
    return known?.evaluated ? known : cachedModule.call(runner, url, importer)
  }
}

const resolutions = new Map<string, unknown>()
const caching = new WeakSet<object>()

/**
 * At every call of an object the test pool asks the main process for the path of the Worker's module. If an object is evicted
 * before the response, that call can never settle, and a run only ends when all calls have settled: it would never end. So
 * each call is made once, here, where no request is cancelled.
 */
export async function keepResolutions(): Promise<void> {
  const { rpc, providedContext } = __vitest_worker__
  if (caching.has(rpc)) return
  const resolve: Resolve = async (...asked) => {
    const key = JSON.stringify(asked)
    if (!resolutions.has(key)) resolutions.set(key, await rpc.resolve(...asked))
    return resolutions.get(key)
  }
  const kept = new Proxy(rpc, { get: (target, name) => (name === 'resolve' ? resolve : Reflect.get(target, name)) })
  caching.add(kept)
  __vitest_worker__.rpc = kept
  const { main } = JSON.parse(providedContext.cloudflarePoolOptions) as { main: string }
  await resolve(main, undefined, 'ssr')
}
