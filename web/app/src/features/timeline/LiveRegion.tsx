import { useMajlis, useMe } from '@majlis/client/react'
import { useEffect, useRef, useState } from 'react'

import { lineOf } from '../markdown/plainText.ts'

/** Announces new messages of others to screen readers, once and in full. */
export function LiveRegion({ spaceId }: { spaceId: string }) {
  const me = useMe()
  const last = useMajlis((state) => state.spaces[spaceId]?.lastMessage ?? null)
  const known = useRef(last?.seq ?? 0)
  const [text, setText] = useState('')
  useEffect(() => {
    if (last?.deletedAt) setText('')
    if (!last || last.seq <= known.current) return
    known.current = last.seq
    if (last.sender.id !== me?.id && !last.deletedAt) setText(`${last.sender.name}: ${lineOf(last)}`)
  }, [last, me])
  return <p role="status" className="unseen">{text}</p>
}
