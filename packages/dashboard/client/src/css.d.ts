/** Vite extracts styles from the code. */
declare module '*.css'
