"""`tf.contrib.ffmpeg`: sounds and videos, by the program ffmpeg."""
