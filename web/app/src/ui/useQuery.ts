import { useCallback, useEffect, useRef, useState } from 'react'

export interface Query<Data> {
  data: Data | null
  problem: string
  /** Calls again and keeps the old data until the new data arrives. */
  reload: () => void
}

/** Calls the server when `key` changes, and calls again when `version` changes: the same question may have a new answer.
 * While it answers, changes of `version` lead to one more call, so that many changes are few calls. */
export function useQuery<Data>(key: string, call: () => Promise<Data>, version = ''): Query<Data> {
  const [answer, setAnswer] = useState<{ key: string; data: Data | null; problem: string }>({ key, data: null, problem: '' })
  const [reloads, setReloads] = useState(0)
  const [repeats, setRepeats] = useState(0)
  const running = useRef<{ question: string; again: boolean } | null>(null)
  useEffect(() => {
    const question = `${reloads} ${key}`
    if (running.current?.question === question) {
      running.current.again = true
      return
    }
    const mine = { question, again: false }
    running.current = mine
    const settle = (data: Data | null, problem: string) => {
      if (running.current !== mine) return
      running.current = null
      setAnswer({ key, data, problem })
      if (mine.again) setRepeats((n) => n + 1)
    }
    call().then(
      (data) => settle(data, ''),
      (error: Error) => settle(null, error.message),
    )
    // `key` stands for `call`, which is a new function at every render.
  }, [key, reloads, version, repeats])
  useEffect(() => () => {
    running.current = null
  }, [])
  const reload = useCallback(() => setReloads((n) => n + 1), [])
  return answer.key === key ? { ...answer, reload } : { data: null, problem: '', reload }
}
