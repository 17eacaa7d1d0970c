import type { Message, Search } from '@majlis/client'
import { useStore } from '@majlis/client/react'
import { useEffect, useState } from 'react'

const PAUSE_MS = 150
const PAGE = 20

export interface FoundMessage {
  message: Message
  snippet: Search['snippets'][string]
}

/** Searches messages after a short pause in typing. `more` loads the next page. */
export function useFoundMessages(typed: string) {
  const store = useStore()
  const [found, setFound] = useState<readonly FoundMessage[]>([])
  const [hasMore, setHasMore] = useState(false)
  const [problem, setProblem] = useState('')
  const wanted = typed.trim()
  useEffect(() => {
    setHasMore(false)
    setProblem('')
    if (wanted.length < 2) return setFound([])
    let current = true
    const show = (answer: Search) => {
      if (!current) return
      setFound(listed(answer))
      setHasMore(answer.hasMore)
    }
    const timer = setTimeout(() => {
      store.client.search(wanted, { limit: PAGE }).then(show, (error: Error) => current && setProblem(error.message))
    }, PAUSE_MS)
    return () => {
      current = false
      clearTimeout(timer)
    }
  }, [store, wanted])
  const more = async () => {
    const last = found.at(-1)
    if (!last) return
    const answer = await store.client.search(wanted, { limit: PAGE, before: last.message.id })
    setFound([...found, ...listed(answer)])
    setHasMore(answer.hasMore)
  }
  return { found, hasMore, problem, more }
}

const listed = (answer: Search): FoundMessage[] => answer.messages.map((message) => ({ message, snippet: answer.snippets[message.id] ?? [] }))
