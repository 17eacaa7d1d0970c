/** What outlives the page. A browser may refuse to keep anything, or have no room left: then it lives as long as the page does. */

const memory = new Map<string, string>()

export function kept(key: string): string | null {
  return memory.get(key) ?? attempt(() => localStorage.getItem(key))
}

export function keep(key: string, text: string): void {
  const done = attempt(() => {
    localStorage.setItem(key, text)
    return true
  })
  if (done) memory.delete(key)
  else memory.set(key, text)
}

export function forget(key: string): void {
  memory.delete(key)
  attempt(() => localStorage.removeItem(key))
}

export const keptKeys = (): string[] => [...new Set([...memory.keys(), ...(attempt(() => Object.keys(localStorage)) ?? [])])]

function attempt<Result>(work: () => Result): Result | null {
  try {
    return work()
  } catch {
    return null
  }
}
