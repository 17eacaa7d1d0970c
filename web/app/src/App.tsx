import { useConnection, useMe, useSpace, useSpaces } from '@majlis/client/react'
import { unread } from '@majlis/client'
import { useCallback, useEffect, useState } from 'react'

import { OfflineBanner } from './features/connection/OfflineBanner.tsx'
import { SplashScreen } from './features/connection/SplashScreen.tsx'
import { useReloadOnUserChange } from './features/connection/useReloadOnUserChange.ts'
import { useVisit } from './features/home/lastVisit.ts'
import KeyboardMap from './features/keyboard/KeyboardMap.tsx'
import { useShortcuts } from './features/keyboard/shortcuts.ts'
import { useNotifications } from './features/notifications/useNotifications.ts'
import { usePush } from './features/notifications/usePush.ts'
import { usePreferenceSync } from './features/profile/usePreferenceSync.ts'
import { isSilent, usePreferences } from './features/spaces/preferences.ts'
import { NewSpaceForm } from './features/spaces/NewSpace.tsx'
import { Sidebar } from './features/spaces/Sidebar.tsx'
import { SpacePage } from './features/spaces/SpacePage.tsx'
import { FormCard } from './features/cards/Card.tsx'
import Switcher from './features/switcher/Switcher.tsx'
import { EmojiPopover } from './features/composer/EmojiButton.tsx'
import { AccountMenuList } from './features/spaces/AccountMenu.tsx'
import { SpaceMenuList } from './features/spaces/SpaceMenu.tsx'
import { Deliveries, MessageMenu } from './features/timeline/MessageActions.tsx'
import { FailedDeliveries } from './features/timeline/NoticeView.tsx'
import { go, inspect as openInspector, spacePath, useInspect, usePlace, type Place } from './router.ts'
import { setMain } from './ui/landmark.ts'
import { lazyPart } from './ui/lazyPart.tsx'
import { NotFound } from './ui/NotFound.tsx'
import { Toasts } from './ui/toast.tsx'

const Inspector = lazyPart(() => import('./features/inspector/Inspector.tsx'), { over: true })
const ProfileDialog = lazyPart(() => import('./features/profile/ProfileDialog.tsx'), { over: true })
const Home = lazyPart(() => import('./features/home/Home.tsx'))
const Admin = lazyPart(() => import('./features/admin/Admin.tsx'))

export type Over = 'switcher' | 'keys' | 'profile' | null

export function App() {
  const me = useMe()
  const connection = useConnection()
  const [over, setOver] = useState<Over>(null)
  const [sidebar, setSidebar] = useState(true)
  const toggleSidebar = useCallback(() => setSidebar((shown) => !shown), [])
  useShortcuts({ setOver, toggleSidebar })
  useNotifications()
  usePreferenceSync()
  usePush()
  useReloadOnUserChange(me?.id)
  useVisit(me?.id)
  usePreload(me !== null)
  useEffect(() => {
    // The session has ended. The server answers this address with the sign-in page.
    if (connection === 'ended') location.reload()
  }, [connection])
  if (!me) return <SplashScreen />
  return (
    <>
      <OfflineBanner />
      <Layout sidebar={sidebar} onOver={setOver} />
      {over === 'switcher' && <Switcher onClose={() => setOver(null)} />}
      {over === 'keys' && <KeyboardMap onClose={() => setOver(null)} />}
      {over === 'profile' && <ProfileDialog onClose={() => setOver(null)} />}
      <Toasts />
    </>
  )
}

/** Loads small parts while the browser is idle, so that they work when the network is gone. */
function usePreload(ready: boolean): void {
  useEffect(() => {
    if (!ready) return
    const preload = () => [MessageMenu, EmojiPopover, SpaceMenuList, AccountMenuList, Home, Inspector, Deliveries, FailedDeliveries, FormCard, NewSpaceForm].forEach((part) => part.preload())
    // Safari has no requestIdleCallback.
    if ('requestIdleCallback' in window) requestIdleCallback(preload)
    else setTimeout(preload, 2000)
  }, [ready])
}

function Layout({ sidebar, onOver }: { sidebar: boolean; onOver: (over: Over) => void }) {
  const place = usePlace()
  const inspect = useInspect()
  useTitle(place)
  useOnlySpace()
  const inspecting = place.page === 'space' && inspect !== null
  // On a phone the home page shows only the list of spaces, so the list is the main landmark.
  const home = place.page === 'home'
  return (
    <div role={home ? 'main' : undefined} className="flex h-full">
      <Sidebar className={home ? 'flex' : !sidebar ? 'hidden' : inspecting ? 'hidden lg:flex' : 'hidden md:flex'} onOver={onOver} />
      <div ref={setMain} role={home ? undefined : 'main'} className={`min-w-0 flex-1 flex-col ${home ? 'hidden md:flex' : 'flex'}`}>
        {!home && <h1 className={`unseen ${!sidebar ? '' : inspecting ? 'lg:hidden' : 'md:hidden'}`}>Majlis</h1>}
        {home && <Home />}
        {place.page === 'space' && <SpacePage key={place.spaceId} spaceId={place.spaceId} messageId={place.messageId} />}
        {place.page === 'unknown' && <NotFound />}
        {place.page === 'admin' && <Admin section={place.section} id={place.id} />}
      </div>
      {inspecting && <Inspector spaceId={place.spaceId} what={inspect} onClose={() => openInspector(null)} />}
    </div>
  )
}

/** Opens the only space of a user who starts at `/`. Phones start with the list. */
function useOnlySpace(): void {
  const spaces = useSpaces()
  const [starting, setStarting] = useState(() => location.pathname === '/' && matchMedia('(width >= 48rem)').matches)
  const only = spaces.length === 1 ? spaces[0]!.facts.id : null
  useEffect(() => {
    if (starting && only) go(spacePath(only), 'replace')
    setStarting(false)
  }, [starting, only])
}

function useTitle(place: Place): void {
  const spaces = useSpaces()
  const space = useSpace(place.page === 'space' ? place.spaceId : '')
  const preferences = usePreferences(useMe()?.id ?? '')
  const count = spaces.reduce((sum, each) => sum + (isSilent(preferences, each.facts.id) ? 0 : unread(each)), 0)
  const name = space ? `${space.facts.name} · Majlis` : 'Majlis'
  useEffect(() => {
    document.title = count > 0 ? `(${count}) ${name}` : name
    // The badge of an installed app; not all browsers have it.
    if ('setAppBadge' in navigator) void navigator.setAppBadge(count).catch(() => {})
  }, [name, count])
}
