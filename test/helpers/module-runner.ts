// What `import()` does under test. The test runner fetches a module's description anew at every call and lets whoever asks at
// the same time wait for the same answer, which belongs to the request that asked first. When that one is cut off, as runs,
// alarms and evicted objects are here, everybody after it waits for ever or is refused the answer. So what was evaluated is
// taken as it is, and what was not is asked for by each request itself.

type ModuleNode = { readonly evaluated: boolean }

type ModuleRunner = {
  readonly evaluatedModules: { getModuleByUrl(url: string): ModuleNode | undefined }
  getModuleInformation(url: string, importer: string | undefined, known: ModuleNode | undefined): Promise<ModuleNode>
  cachedModule(url: string, importer?: string): Promise<ModuleNode>
}

declare const __vitest_mocker__: { readonly moduleRunner: ModuleRunner }

export function letImportsStandAlone(): void {
  const runner = __vitest_mocker__.moduleRunner
  runner.cachedModule = async (url, importer) => {
    const known = runner.evaluatedModules.getModuleByUrl(url)
    return known?.evaluated ? known : runner.getModuleInformation(url, importer, known)
  }
}
