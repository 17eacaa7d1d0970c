/** What a call has answered, for views that are opened now and then. `again` asks anew and keeps what is shown until then. */
import { useCallback, useEffect, useState } from 'react'

export interface Answer<Data> {
  data: Data | null
  problem: string
  again: () => void
}

/** `call` is made when `key` changes, which says what is asked for, and again when `changes` does, which says that the answer may be another by now. */
export function useQuery<Data>(key: string, call: () => Promise<Data>, changes = ''): Answer<Data> {
  const [answer, setAnswer] = useState<{ key: string; data: Data | null; problem: string }>({ key, data: null, problem: '' })
  const [count, setCount] = useState(0)
  useEffect(() => {
    let wanted = true
    call().then(
      (data) => wanted && setAnswer({ key, data, problem: '' }),
      (error: Error) => wanted && setAnswer({ key, data: null, problem: error.message }),
    )
    return () => {
      wanted = false
    }
    // The key stands for the call.
  }, [key, count, changes])
  const again = useCallback(() => setCount((n) => n + 1), [])
  return answer.key === key ? { ...answer, again } : { data: null, problem: '', again }
}
