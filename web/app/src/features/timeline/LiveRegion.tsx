import { useMajlis, useMe } from '@majlis/client/react'
import { useEffect, useRef, useState } from 'react'

import { plainText } from '../markdown/plainText.ts'

/** What others say while one listens, for screen readers: whole messages, once, and nothing of the past. */
export function LiveRegion({ spaceId }: { spaceId: string }) {
  const me = useMe()
  const last = useMajlis((state) => state.spaces[spaceId]?.lastMessage ?? null)
  const known = useRef(last?.seq ?? 0)
  const [words, setWords] = useState('')
  useEffect(() => {
    if (!last || last.seq <= known.current) return
    known.current = last.seq
    if (last.sender.id !== me?.id) setWords(`${last.sender.name}: ${plainText(last.text)}`)
  }, [last, me])
  return <p role="status" className="unseen">{words}</p>
}
