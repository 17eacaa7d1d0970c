import { useCallback, useEffect, useState } from 'react'

export interface Query<Data> {
  data: Data | null
  problem: string
  /** Calls again and keeps the old data until the new data arrives. */
  reload: () => void
}

/** Calls the server when `key` changes, and calls again when `version` changes: the same question may have a new answer. */
export function useQuery<Data>(key: string, call: () => Promise<Data>, version = ''): Query<Data> {
  const [answer, setAnswer] = useState<{ key: string; data: Data | null; problem: string }>({ key, data: null, problem: '' })
  const [reloads, setReloads] = useState(0)
  useEffect(() => {
    let current = true
    call().then(
      (data) => current && setAnswer({ key, data, problem: '' }),
      (error: Error) => current && setAnswer({ key, data: null, problem: error.message }),
    )
    return () => {
      current = false
    }
    // `key` stands for `call`, which is a new function at every render.
  }, [key, reloads, version])
  const reload = useCallback(() => setReloads((n) => n + 1), [])
  return answer.key === key ? { ...answer, reload } : { data: null, problem: '', reload }
}
