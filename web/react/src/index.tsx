/** A space of Majlis in a page of its own: the app's timeline, composer and cards, in a shadow root, so that neither the
 * page's styles nor the space's reach the other. */
import type { Message, Store } from '@majlis/client'
import { MajlisProvider, useSpace } from '@majlis/client/react'
import { useEffect, useLayoutEffect, useRef, useState, type CSSProperties } from 'react'
import { createPortal } from 'react-dom'

import { ActiveAgents } from '../../app/src/features/agents/ActiveAgents.tsx'
import { Composer } from '../../app/src/features/composer/Composer.tsx'
import { onStartReply } from '../../app/src/features/composer/startReply.ts'
import { useOpenQuestion } from '../../app/src/features/composer/useOpenQuestion.ts'
import { Timeline } from '../../app/src/features/timeline/Timeline.tsx'
import { Toasts } from '../../app/src/ui/toast.tsx'
import css from '../../app/src/styles/app.css?inline'
import { Box } from './radix.tsx'
import { embed } from './router.ts'
import { sheets } from './sheets.ts'

interface Props {
  store: Store
  baseUrl: string
  spaceId: string
  theme?: 'light' | 'dark'
  className?: string
  style?: CSSProperties
}

export function MajlisSpace({ store, baseUrl, spaceId, theme, className, style }: Props) {
  const host = useRef<HTMLDivElement>(null)
  const [root, setRoot] = useState<ShadowRoot | null>(null)
  useLayoutEffect(() => {
    const found = host.current!.shadowRoot ?? host.current!.attachShadow({ mode: 'open' })
    found.adoptedStyleSheets = sheets(css)
    setRoot(found)
  }, [])
  return (
    <div ref={host} data-theme={theme} className={className} style={style}>
      {root && createPortal(<MajlisProvider store={store}><Page spaceId={spaceId} baseUrl={baseUrl.replace(/\/$/, '')} /></MajlisProvider>, root)}
    </div>
  )
}

function Page({ spaceId, baseUrl }: { spaceId: string; baseUrl: string }) {
  const space = useSpace(spaceId)
  const [box, setBox] = useState<HTMLElement | null>(null)
  const [messageId, setMessageId] = useState<string | null>(null)
  const [replyTo, setReplyTo] = useState<Message | null>(null)
  useEffect(() => embed({ spaceId, baseUrl, show: setMessageId }), [spaceId, baseUrl])
  useEffect(() => onStartReply(spaceId, setReplyTo), [spaceId])
  useOpenQuestion(spaceId, replyTo, setReplyTo)
  return (
    <Box value={box}>
      <section id="root" dir="ltr" lang="en" ref={setBox} className="relative flex h-full min-h-0 flex-col">
        {space && <Timeline space={space} messageId={messageId} onReply={setReplyTo} />}
        {space && <ActiveAgents space={space} />}
        {space && <Composer spaceId={spaceId} replyTo={replyTo} onClearReply={() => setReplyTo(null)} />}
        <Toasts />
      </section>
    </Box>
  )
}
