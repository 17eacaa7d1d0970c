/** localStorage with a fallback to memory, for browsers that block it or have no room left. */

const memory = new Map<string, string>()

export function loadItem(key: string): string | null {
  return memory.get(key) ?? attempt(() => localStorage.getItem(key))
}

export function saveItem(key: string, text: string): void {
  const saved = attempt(() => {
    localStorage.setItem(key, text)
    return true
  })
  if (saved) memory.delete(key)
  else memory.set(key, text)
}

export function removeItem(key: string): void {
  memory.delete(key)
  attempt(() => localStorage.removeItem(key))
}

/** Calls back when another tab has changed the item. Returns a function that ends this. */
export function onOtherTab(item: string, listener: () => void): () => void {
  const onStorage = ({ key }: StorageEvent) => {
    if (key === null || key === item) listener()
  }
  addEventListener('storage', onStorage)
  return () => removeEventListener('storage', onStorage)
}

export const itemKeys = (): string[] => [...new Set([...memory.keys(), ...(attempt(() => Object.keys(localStorage)) ?? [])])]

function attempt<Result>(work: () => Result): Result | null {
  try {
    return work()
  } catch {
    return null
  }
}
