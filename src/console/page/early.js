/** Gives the document its theme before it is painted, or a dark room would see a white flash. */
try {
  document.documentElement.dataset['theme'] = localStorage.getItem('trunkline.theme') ?? 'system';
} catch {
  // Storage is forbidden: the system's theme it is.
}
