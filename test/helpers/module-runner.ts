// What `import()` does under test. The test runner fetches a module's description anew at every call and lets whoever asks at
// the same time wait for the same answer, which belongs to the request that asked first. When that one is cut off, as runs,
// alarms and evicted objects are here, everybody after it waits for ever or is refused the answer. So what was evaluated is
// taken as it is; setup.ts sees to it that everything is.

type ModuleNode = { readonly evaluated: boolean }

type ModuleRunner = {
  readonly evaluatedModules: { getModuleByUrl(url: string): ModuleNode | undefined }
  cachedModule(url: string, importer?: string): Promise<ModuleNode>
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
