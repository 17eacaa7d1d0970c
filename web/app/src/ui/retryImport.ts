const DELAYS_MS = [300, 1000]

/** Imports a chunk, with two more attempts: the network may have failed for a moment. */
export async function retryImport<Module>(load: () => Promise<Module>): Promise<Module> {
  let attempt = load()
  for (const delay of DELAYS_MS) {
    try {
      return await attempt
    } catch (error) {
      await new Promise((resolve) => setTimeout(resolve, delay))
      attempt = again(load, error)
    }
  }
  return attempt
}

/** Some browsers remember a failed import for the lifetime of the page. Another address makes them fetch it again. */
function again<Module>(load: () => Promise<Module>, error: unknown): Promise<Module> {
  const address = /https?:\/\/\S+\.js/.exec(String((error as Error | null)?.message))?.[0]
  return load().catch((failure: unknown) => {
    if (!address?.startsWith(location.origin)) throw failure
    return import(/* @vite-ignore */ `${address}?again=${Date.now()}`) as Promise<Module>
  })
}
