// What `import()` does under test. The test runner fetches a module's description anew at every call and lets whoever asks at
// the same time wait for the same answer, which belongs to the request that asked first. When that one is cut off, as runs,
// alarms and evicted objects are here, everybody after it waits for ever or is refused the answer. So what was evaluated is
// taken as it is; setup.ts sees to it that everything is.

type ModuleNode = { readonly evaluated: boolean }

type ModuleRunner = {
  readonly evaluatedModules: { getModuleByUrl(url: string): ModuleNode | undefined }
  cachedModule(url: string, importer?: string): Promise<ModuleNode>
}

type Resolve = (id: string, importer?: string, environment?: string) => Promise<unknown>

/** What Vitest keeps of a run: `rpc` asks its main process. */
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
 * At every call of an object the test pool asks the main process where the Worker's module lies. An object that is evicted
 * before the answer leaves a question that nobody can settle, and a run ends only when every question has: it never did. So
 * each question is asked once, here, where nothing is cut off.
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
