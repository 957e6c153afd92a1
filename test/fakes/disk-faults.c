/*
 * Faults of a disk, for a program that is started with LD_PRELOAD: what it writes to files whose path contains
 * FAULT_PREFIX waits for ever while the file FAULT_FILE says "hang", and fails while it says "ENOSPC" or "EIO".
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int fault(int fd) {
  const char *prefix = getenv("FAULT_PREFIX"), *file = getenv("FAULT_FILE");
  char link[64], path[4096], mode[16];
  if (prefix == NULL || file == NULL) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  if (strstr(path, prefix) == NULL) return 0;
  for (;;) {
    FILE *said = fopen(file, "r");
    if (said == NULL) return 0;
    memset(mode, 0, sizeof mode);
    if (fgets(mode, sizeof mode, said) == NULL) mode[0] = 0;
    fclose(said);
    if (strncmp(mode, "hang", 4) != 0) break;
    usleep(20000);
  }
  return strncmp(mode, "ENOSPC", 6) == 0 ? ENOSPC : strncmp(mode, "EIO", 3) == 0 ? EIO : 0;
}

#define FAULTY(result, name, parameters, arguments)                \
  result name parameters {                                         \
    static result(*real) parameters;                               \
    if (real == NULL) real = (result(*) parameters)dlsym(RTLD_NEXT, #name); \
    int code = fault(fd);                                          \
    if (code == 0) return real arguments;                          \
    errno = code;                                                  \
    return -1;                                                     \
  }

FAULTY(ssize_t, write, (int fd, const void *bytes, size_t length), (fd, bytes, length))
FAULTY(ssize_t, pwrite64, (int fd, const void *bytes, size_t length, off64_t at), (fd, bytes, length, at))
FAULTY(ssize_t, pwrite, (int fd, const void *bytes, size_t length, off_t at), (fd, bytes, length, at))
FAULTY(int, fsync, (int fd), (fd))
FAULTY(int, fdatasync, (int fd), (fd))
